// A new version of the guideline: the desk stops, shows what changed and what came back, and goes on when that is read.

const READABLE = ["help", "search", "history", "back"]; // what may be done before that
const LISTED = 20; // items that came back and are shown; all are counted

// New data from the page: the guideline in view changes when it has been read, not before.
function inView(desk, data) {
  const { queue } = desk;
  if (data.guideline.version <= queue.version) return data;
  const { guideline, choices, reasons, scheme, news } = data;
  if (guideline.version >= queue.known) queue.next = { guideline, choices, reasons, scheme, changes: queue.next?.changes ?? news ?? [] };
  return { ...data, ...shownNow(desk.data) };
}

// What a label is made under.
function shownNow({ guideline, choices, reasons, scheme }) {
  return { guideline, choices, reasons, scheme };
}

// Whether an act has to wait until the changes have been read; says so.
function waitsForReading(desk, name) {
  if (!desk.queue.unread || READABLE.includes(name)) return false;
  desk.view.say(desk.t("First read what has changed in the guideline."));
  return true;
}

function changesOf(queue) {
  const made = new Map([...queue.news, ...(queue.next?.changes ?? [])].map((one) => [one.version, one]));
  return [...made.values()].sort((one, other) => one.version - other.version);
}

// Choices and criteria by what happened to them, in words.
function changedOptions(now, next, t) {
  const was = new Map([...now.choices, ...now.reasons, ...(now.scheme ? [...now.scheme.spans, ...now.scheme.questions] : [])].map((one) => [one.code, one.label]));
  const will = new Map([...next.choices, ...next.reasons, ...(next.scheme ? [...next.scheme.spans, ...next.scheme.questions] : [])].map((one) => [one.code, one.label]));
  const made = [];
  for (const [code, label] of will) {
    if (!was.has(code)) made.push(t("New: {label}", { label }));
    else if (was.get(code) !== label) made.push(t("Was: {old}. Now: {label}", { old: was.get(code), label }));
  }
  for (const [code, label] of was) if (!will.has(code)) made.push(t("Removed: {label}", { label }));
  return made;
}

function listOf(lines) {
  return element("ul", {}, ...lines.map((line) => element("li", {}, ...[line].flat())));
}

// What came back, with what it was; a covered text is not shown here either.
function cameBack(desk) {
  const { queue, t } = { queue: desk.queue, t: (text, values) => desk.t(text, values) };
  if (!queue.back) return [];
  const line = (item) => {
    const text = desk.covers(item) ? [t("covered text")] : [lineOf(item, desk)];
    return [...text, ` · ${[item.earlier.choice, ...item.earlier.reasons].join(", ")}`];
  };
  const lines = queue.items.filter((item) => item.earlier).slice(0, LISTED).map(line);
  const head = t("Sent back to you for relabelling: {n}", { n: queue.back });
  return [element("h3", { text: head }), listOf(lines)];
}

function drawNews(place, desk) {
  const { queue, data } = desk;
  const t = (text, values) => desk.t(text, values);
  place.hidden = !queue.unread;
  const looks = place.hidden ? "" : JSON.stringify([queue.news, queue.next, queue.back, data.language, queue.items.map((one) => one.id)]);
  if (looks === place.looks) return;
  const first = !place.looks;
  place.looks = looks;
  if (place.hidden) return place.replaceChildren();
  const { guideline, choices, reasons, scheme } = queue.next ?? data;
  const said = changesOf(queue).filter((one) => one.changes);
  const told = said.length
    ? listOf(said.map((one) => t("Version {version}: {changes}", one)))
    : element("p", { text: t("The changes were not described; here is the full guideline.") });
  const options = changedOptions(data, { choices, reasons, scheme }, t);
  const whole = element("div");
  drawBlocks(whole, guideline.blocks, desk);
  place.replaceChildren(
    element("h2", { text: t("The guideline has changed: version {version}", { version: guideline.version }) }),
    told,
    ...(options.length ? [listOf(options)] : []),
    ...cameBack(desk),
    element("details", { open: !said.length }, element("summary", { text: t("Full guideline") }), whole),
    element("div", { class: "row" }, element("button", { type: "button", class: "store", "data-act": "understood", text: t("I have read this; continue") })),
  );
  if (first) place.focus({ preventScroll: true }); // not the button: an Enter on its way must not confirm
  if (first) desk.view?.say(place.querySelector("h2").textContent);
}

async function understood(desk) {
  const { queue } = desk;
  const version = Math.max(queue.known, ...queue.news.map((one) => one.version));
  const reply = await desk.request("told", { version });
  if (!reply) return;
  if (queue.next) desk.data = { ...desk.data, ...shownNow(queue.next) };
  queue.take(reply.news);
  desk.mode = "label";
  desk.keymap.update();
  desk.view.words();
  desk.draw();
  desk.view.focusDesk();
}
