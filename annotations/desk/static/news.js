// What changed with a new version of the guideline: said at the desk until the annotator has understood it.

function newsNotices(notices) {
  const { desk } = notices;
  const inView = desk.data.guideline.version;
  const read = desk.queue.news.filter((one) => one.version <= inView);
  const newer = desk.queue.news.filter((one) => one.version > inView);
  const t = (text, values) => desk.t(text, values);
  const list = (news) =>
    element("ul", {}, ...news.map((one) => element("li", { text: t("Version {version}: {changes}", one) })));
  const made = [];
  if (desk.queue.guideline > inView) {
    const shown = notices.action("sign-in", t("Show it"));
    made.push(notices.notice("guideline", t("The guideline has a new version."), shown, ...(newer.length ? [list(newer)] : [])));
  }
  if (read.length)
    made.push(
      notices.notice("news", t("The guideline has changed since you labelled last."), notices.action("understood", t("Understood")), list(read)),
    );
  return made;
}

async function understood(desk) {
  const version = Math.max(...desk.queue.news.map((one) => one.version).filter((one) => one <= desk.data.guideline.version));
  const reply = await desk.request("told", { version });
  if (!reply) return;
  desk.queue.news = reply.news;
  desk.draw();
  desk.view.focusDesk();
}
