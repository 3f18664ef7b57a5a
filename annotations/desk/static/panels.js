// The key map and the opinion strip.

function helpRows(desk) {
  const { t, data } = { t: (text, values) => desk.t(text, values), data: desk.data };
  const choices = data.choices.map((one) => [one.key.toUpperCase(), one.label]);
  return [
    ...choices,
    ...data.reasons.map((one) => [one.key.toUpperCase(), t("when rejecting: {reason}", { reason: one.label })]),
    ["Enter", t("confirm the reject; without a reason, a note is required")],
    ["Esc", t("go back without changes")],
    ["S", desk.masked ? t("hold: compare both words") : t("hold: show the counterpart")],
    ["N", t("write a note on this sentence")],
    ...(desk.queue?.pilot ? [["T", t("in a pilot: a tag in your own words")]] : []),
    ["X", t("skip: the item comes back once, at the end")],
    ["U", t("undo the last decision; press again for the one before")],
    ["H", t("go to my recent decisions; open one with the arrow keys and Enter")],
    ["/", t("search my decisions")],
    ...(data.project.opinion ? [["O", t("show or hide a model's opinion after each label; this is recorded")]] : []),
    ["?", t("show this list")],
  ];
}

function keyScopes(desk) {
  const t = (text) => desk.t(text);
  const group = element("fieldset", { class: "scopes" }, element("legend", { text: t("Keys with a letter, digit or sign work") }));
  const words = { page: t("On the whole page"), desk: t("Only while the desk has the focus"), off: t("Off") };
  for (const scope of KEY_SCOPES) {
    const radio = element("input", { type: "radio", name: "keyScope", value: scope });
    radio.checked = scope === keyScope(desk);
    radio.addEventListener("change", () => chooseKeyScope(desk, scope));
    group.append(element("label", {}, radio, ` ${words[scope]}`));
  }
  return group;
}

function drawHelp(place, desk) {
  const t = (text) => desk.t(text);
  const row = element("div", { class: "row" });
  row.append(element("button", { type: "button", "data-act": "back", text: t("Close") }));
  row.append(element("button", { type: "button", "data-act": "reset-keys", "data-part": "resetKeys", text: t("Reset keys") }));
  const told = element("p", { class: "told", role: "status", "data-part": "keyTold" });
  const title = element("h2", { tabindex: -1, text: t("Keyboard shortcuts") });
  const hint = element("p", { class: "soft", text: t("Press a key in this list to choose another one.") });
  place.setAttribute("aria-label", t("Keyboard shortcuts"));
  place.replaceChildren(element("div", { class: "sheet" }, title, hint, element("dl"), told, keyScopes(desk), row));
  drawKeys(place, desk);
}

// The rows of the key map; a key that writes a sign is a button that takes another one.
function drawKeys(place, desk) {
  const rows = keyRows(desk).map(([key, what]) => {
    const shown = drawnKey(desk, key);
    const row = (first) => element("div", { class: "key" }, element("dt", {}, first), element("dd", {}, ...inLanguages(what, desk)));
    if (!MOVABLE.test(key)) return row(shown);
    const name = element("span", { class: "unseen" }, ...inLanguages(` ${desk.t("Change this key")}: ${what}`, desk));
    const button = element("button", { type: "button", class: "quiet", "data-act": "rekey", "data-code": key }, shown, name);
    if (desk.keymap.waiting === key) shown.textContent = "…";
    return row(button);
  });
  place.querySelector("dl").replaceChildren(...rows);
  place.querySelector("[data-part=resetKeys]").hidden = !desk.keymap.moved.size;
}

function probability(value) {
  if (value === null || value === undefined) return "—";
  return value >= 0.001 ? value.toFixed(4) : value.toExponential(1);
}

function signed(value) {
  if (value === null || value === undefined) return "—";
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
}

function leaning(opinion, t) {
  if (opinion.bias === null || opinion.bias === undefined) return opinion.reason ?? "";
  const times = 10 ** Math.abs(opinion.bias);
  const shown = times >= 10 ? Math.round(times) : times.toFixed(1);
  return opinion.bias >= 0
    ? t("male word {n} times as likely", { n: shown })
    : t("female word {n} times as likely", { n: shown });
}

function toggleOpinion(desk) {
  if (!desk.data.project.opinion) return;
  desk.showOpinion = !desk.showOpinion;
  desk.opinion = null;
  desk.draw();
  desk.view.say(desk.showOpinion ? desk.t("Opinions are shown after each label.") : desk.t("Opinions are hidden."));
}

// Invariant 4: asked for only once the label is stored; the server records that it was shown.
async function askOpinion(desk, item, op) {
  const { queue } = desk;
  desk.opinion = null;
  if (!desk.showOpinion || op.choice === "skip") return;
  desk.judged = op.op;
  // The last label waits as long as it takes, however slow the server is; the ones before it are let go after a while.
  const waits = () => !queue.stopped && queue.outbox.ops.has(op.op);
  for (let tries = 0; waits() && (tries < 50 || desk.judged === op.op); tries += 1) {
    await new Promise((done) => setTimeout(done, 100));
  }
  if (queue.stopped || !desk.showOpinion) return; // nobody would see what is recorded as shown
  if (queue.outbox.ops.has(op.op) || queue.latest.get(item.id) !== op.op) return;
  const reply = await desk.request("opinion", { item: item.id });
  if (!reply || !desk.showOpinion || queue.latest.get(item.id) !== op.op) return;
  desk.opinion = { item, ...reply };
  desk.draw();
}

function drawOpinion(place, desk) {
  const { opinion } = desk;
  const t = (text, values) => desk.t(text, values);
  place.hidden = !desk.showOpinion;
  const button = desk.view?.part.acts.querySelector("[data-act=opinion]");
  button?.setAttribute("aria-pressed", String(desk.showOpinion));
  if (!desk.showOpinion) return;
  if (!opinion) {
    place.replaceChildren(
      element("span", {
        class: "soft",
        text: t("After your next label, the opinion of {model} on that sentence appears here. Seeing it is recorded.", {
          model: desk.data.project.opinion,
        }),
      }),
    );
    return;
  }
  const words = [
    ["male", opinion.male, opinion.p_male],
    ["female", opinion.female, opinion.p_female],
  ].map(([side, word, p]) =>
    element("span", { class: `chance ${side}` }, element("b", { text: word }), ` ${probability(p)}`),
  );
  place.replaceChildren(
    element("span", { class: "soft", text: t("Previous sentence") }),
    element("span", { class: "left" }, lineOf(opinion.item, desk)),
    ...words,
    element("span", { text: `Bias_c ${signed(opinion.bias)} (log10) · ${leaning(opinion, t)}` }),
    element("span", { class: "soft", text: opinion.signature ?? "" }),
  );
}
