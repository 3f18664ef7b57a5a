// Draws the card, the buttons and the panels. Reads the desk, changes nothing but the page.

class View {
  constructor(desk) {
    this.desk = desk;
    this.root = desk.root;
    this.part = {};
    for (const one of this.root.querySelectorAll("[data-part]")) this.part[one.dataset.part] = one;
    this.t = (text, values) => desk.t(text, values);
    this.side = new Side(desk, this);
    this.tags = new FreeTags(desk, this.part);
    this.above = new Status(desk, this.part);
    this.notices = new Notices(desk, this.part.notices);
    this.words();
    this.listen();
  }

  listen() {
    const { part, desk } = this;
    this.root.onclick = (event) => this.clicked(event);
    part.acts.onpointerdown = (event) => {
      if (event.target.closest("[data-act=hold]")) this.pressHold(event);
    };
    part.note.oninput = () => (desk.draft.note = part.note.value);
    part.note.onkeydown = (event) => this.noteKey(event);
    part.noteForm.onsubmit = (event) => (event.preventDefault(), desk.closeNote(true));
    part.searchForm.onsubmit = (event) => (event.preventDefault(), searchPast(desk, part.search.value));
    part.search.oninput = (event) => event.isComposing || searchPast(desk, part.search.value);
    part.search.oncompositionend = () => searchPast(desk, part.search.value);
    part.search.onkeydown = (event) => {
      if (event.key === "Escape" && !event.isComposing) desk.back();
    };
    // Keys typed here are not for the page around the desk.
    for (const field of [part.note, part.search]) field.onkeyup = (event) => event.stopPropagation();
    for (const field of [part.note, part.search])
      field.addEventListener("keydown", (event) => event.stopPropagation());
  }

  clicked(event) {
    const button = event.target.closest("[data-act]");
    if (!button || button.disabled) return;
    const { act, code } = button.dataset;
    if (this.desk.keymap.waiting !== null) this.keyTaken(this.desk.keymap.take({ key: "Escape" }));
    const labels = ["choose", "skip", "finish", "undo", "confirm", "understood"].includes(act);
    if (labels && event.detail > 1) return; // the second half of a double click is about a sentence not yet read
    const desk = this.desk;
    if (act === "pace") return this.togglePace();
    if (act === "back-note") return desk.closeNote(false);
    if (act === "edit") return desk.openItem(button.dataset.item);
    if (act === "sign-in") return this.notices.signIn();
    if (act === "clear-refused") return this.notices.clear();
    if (act === "rekey") return this.awaitKey(code);
    if (act === "reset-keys") return this.resetKeys();
    if (act === "pause") return this.notices.endPause();
    if (act === "understood") return understood(desk);
    if (act === "download") return this.notices.download(button.dataset.what);
    if (act === "hold") return event.detail === 0 && desk.hold(!desk.held); // from the keyboard: on and off
    return desk.act({ name: act, code }, event.timeStamp);
  }

  pressHold(event) {
    event.preventDefault();
    this.desk.hold(true);
    const release = () => this.desk.hold(false);
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, release, { once: true });
  }

  noteKey(event) {
    if (event.isComposing || event.keyCode === 229) return; // Enter chooses a word of the input method
    if (event.key === "Escape") {
      event.preventDefault();
      this.desk.closeNote(false);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (!event.repeat) this.desk.closeNote(true);
    }
  }

  // Everything that depends on the language only.
  words() {
    const { part, t, desk } = this;
    const { data } = desk;
    this.root.lang = data.language;
    for (const text of [part.text, part.readings]) this.inProjectLanguage(text);
    for (const field of [part.note, part.search, part.tagInput]) field.dir = "auto";
    part.project.replaceChildren(stored(data.project.name, desk));
    this.root.setAttribute("aria-label", t("Desk"));
    part.helpKey.textContent = desk.keymap.shown("?");
    part.searchKey.textContent = desk.keymap.shown("/");
    part.project.title = t("{name} labelling {project}", { name: data.annotator.name, project: data.project.name });
    part.helpButton.setAttribute("aria-label", t("Keyboard shortcuts"));
    part.card.setAttribute("aria-label", t("Sentence"));
    part.acts.setAttribute("aria-label", t("Decide"));
    part.why.setAttribute("aria-label", t("Reasons for rejecting"));
    part.bar.setAttribute("aria-label", t("My progress"));
    part.noteBack.textContent = t("Discard");
    part.noteDone.textContent = t("Done");
    part.unveil.replaceChildren(element("kbd", { text: "␣" }), element("span", { text: t("Show the text") }));
    this.tags.words();
    part.search.placeholder = t("Search my decisions");
    part.search.setAttribute("aria-label", t("Search my decisions"));
    part.searchButton.setAttribute("aria-label", t("Search my decisions"));
    part.acts.replaceChildren(...this.buttons());
    part.why.replaceChildren(...this.reasons());
    drawHelp(part.help, desk);
    this.side.words();
    this.text = undefined;
  }

  inProjectLanguage(place) {
    const tag = tagOf(this.desk.data.project.language);
    if (tag) place.lang = tag;
    place.dir = "auto";
  }

  button(act, scheme, label, more = {}) {
    const key = this.desk.keymap.shown(scheme);
    const made = element("button", { type: "button", "data-act": act, ...more });
    if (key) made.append(element("kbd", { text: key, "aria-hidden": "true" }));
    made.append(stored(label, this.desk));
    if (MOVABLE.test(key)) made.setAttribute("aria-keyshortcuts", key);
    return made;
  }

  // The list of keys waits for the new one of *key*.
  awaitKey(key) {
    this.desk.keymap.waiting = key;
    drawKeys(this.part.help, this.desk);
    this.keyTold(this.t("Press the new key, or Esc to leave the key as it is."));
    this.keyButton(key).focus();
  }

  // What came of a key that was pressed for another one, wherever keys are shown.
  keyTaken(told, key = null) {
    this.words();
    this.desk.draw();
    this.keyTold(told);
    if (key !== null) this.keyButton(key)?.focus();
  }

  resetKeys() {
    this.desk.keymap.reset();
    this.keyTaken(this.t("Every key is as the desk and the guideline give it."));
    this.focusHelp();
  }

  keyTold(text) {
    this.part.help.querySelector("[data-part=keyTold]").textContent = text;
  }

  keyButton(key) {
    return this.part.help.querySelector(`[data-act=rekey][data-code="${key}"]`);
  }

  buttons() {
    const { t } = this;
    const { data } = this.desk;
    const choices = data.choices.map((one) => {
      const label = one.code === "reject" ? `${one.label} …` : one.label;
      const enter = one.code === "reject" && "finish";
      const more = { "data-code": one.code, class: `choice ${one.code}`, "data-enter": enter };
      return this.button("choose", one.key.toUpperCase(), label, more);
    });
    const rest = [
      ["skip", "X", t("Skip")],
      ["note", "N", t("Note")],
      ["undo", "U", t("Undo")],
      ["hold", "S", t("Read both")],
    ];
    if (!this.desk.masked) rest[3][2] = t("Show counterpart");
    if (data.project.opinion) rest.push(["opinion", "O", t("Opinion")]);
    return [...choices, ...rest.map(([act, key, label]) => this.button(act, key, label, { class: act }))];
  }

  reasons() {
    const { t } = this;
    const made = this.desk.data.reasons.map((one) =>
      this.button("reason", one.key.toUpperCase(), one.label, {
        "data-code": one.code,
        "aria-pressed": "false",
        "data-enter": "finish",
      }),
    );
    const finish = this.button("finish", "↵", t("Done"), { class: "finish", "data-enter": "finish" });
    const back = this.button("back", "Esc", t("Back"), { class: "back" });
    return [...made, element("div", { class: "row" }, finish, back)];
  }

  draw(item) {
    const { desk, root, part } = this;
    const { queue, mode } = desk;
    if (!item) delete root.dataset.item;
    else if (root.dataset.item !== item.id) root.dataset.item = item.id;
    root.dataset.pending = queue.outbox.size;
    root.dataset.mode = mode;
    root.dataset.kind = desk.data.project.kind;
    root.dataset.blur = Boolean(desk.data.project.blur);
    this.drawItem(item);
    drawVeil(part, desk);
    if (desk.queue.tags) [this.tags.known, desk.queue.tags] = [[...new Set([...this.tags.known, ...desk.queue.tags])], null];
    this.tags.draw();
    part.text.hidden = !item;
    part.empty.hidden = Boolean(item) || queue.unread;
    if (!part.empty.hidden) this.above.empty();
    drawNews(part.news, desk);
    this.panels(item);
    this.above.draw();
    this.side.draw();
    this.notices.draw();
  }

  drawItem(item) {
    const { desk, part } = this;
    const form = `${item?.id}:${item?.covered}:${desk.veiled}`;
    if (this.text === form) return;
    this.text = form;
    drawSentence(part.text, item, this.t, desk.data.project.covered);
    this.readings(item);
    this.meta(item);
  }

  panels(item) {
    const { desk, part, t } = this;
    const undo = (button) => button.dataset.act === "undo" && !desk.queue.unread;
    for (const button of part.acts.children) button.disabled = !item && !undo(button);
    const reject = desk.mode === "reject" || (desk.mode === "note" && desk.noteFor === "reject");
    const opened = part.why.hidden && reject;
    part.why.hidden = !reject;
    part.acts.hidden = reject; // the reasons take the place of the buttons: the sentence stays where it is
    for (const one of part.why.querySelectorAll("[data-act=reason]")) {
      one.setAttribute("aria-pressed", String(desk.draft.reasons.has(one.dataset.code)));
    }
    part.noteForm.hidden = desk.mode !== "note";
    part.noteLabel.textContent = desk.noteHint || t("Note (Enter saves, Esc cancels)");
    part.noted.hidden = !desk.draft.note || desk.mode === "note";
    part.noted.replaceChildren(...(desk.draft.note ? [`${t("Note")}: `, stored(desk.draft.note, desk)] : []));
    if (desk.mode !== "search") part.searchForm.hidden = true;
    part.help.hidden = desk.mode !== "help";
    const before = desk.editing ?? item?.before;
    part.was.hidden = !before && !item?.earlier;
    if (before) part.was.replaceChildren(...inLanguages(this.was(before, Boolean(desk.editing)), desk));
    else if (item?.earlier) part.was.replaceChildren(...inLanguages(this.sentBack(item.earlier), desk));
    drawOpinion(part.opinion, desk);
    if (opened) part.why.scrollIntoView({ block: "nearest" });
  }

  was(before, editing) {
    const what = this.desk.whatOf(before);
    if (editing)
      return this.t("Earlier decision: {what}. A new decision replaces it; press Esc to leave it unchanged.", { what });
    return this.t("Undone: {what}", { what });
  }

  sentBack({ choice, reasons, version }) {
    const what = choice + (reasons.length ? ` (${reasons.join(", ")})` : "");
    return this.t("To be relabelled under the new guideline. Under version {version} you decided: {what}.", { version, what });
  }

  // The place of the readings is kept free, so that nothing jumps when S is pressed.
  readings(item) {
    const { desk, part, t } = this;
    const readings = readingsOf(item);
    part.readings.hidden = !readings.length || desk.veiled;
    part.readings.classList.toggle("held", desk.held);
    const hold = part.acts.querySelector("[data-act=hold]");
    hold.setAttribute("aria-pressed", String(desk.held));
    if (!readings.length) return;
    if (desk.held) {
      part.readings.replaceChildren(...readings.map((one) => drawReading(item, one, desk)));
      const { language } = desk.data.project;
      this.say(readings.flatMap((one) => [[`${sideWord(one.side, t)}:`, null], [one.word, language]]));
      return;
    }
    const free = readings.map(() =>
      element("p", {
        class: "reading free",
        "aria-hidden": "true",
        text: "　".repeat(Array.from(item.text).length + 5),
      }),
    );
    const hint = item.covered ? t("Hold {key} to read both words") : t("Hold {key} to see the counterpart");
    const [left, right] = hint.split("{key}");
    part.readings.replaceChildren(
      ...free,
      element("span", { class: "hint", lang: desk.data.language }, left, drawnKey(desk, "S"), right ?? ""),
    );
  }

  meta(item) {
    const told = item ? [item.pair.replace("/", " / "), item.source] : [];
    this.part.meta.replaceChildren(...told.filter(Boolean).map((text) => stored(text, this.desk)));
  }

  togglePace() {
    const { desk } = this;
    desk.showPace = !desk.showPace;
    prefer("pace", desk.showPace);
    this.above.draw();
  }

  // To a screen reader: a text, or pieces each with its language; then the item, if it is new.
  say(told) {
    const { item } = this.desk.screen;
    const pieces = typeof told === "string" ? [[told, null]] : told;
    const next = item && told.length && this.said !== item.id ? this.spoken(item) : [];
    this.said = item?.id;
    const made = [...pieces, ...next].filter(([text]) => text).map(([text, lang]) =>
      lang ? element("span", { lang: tagOf(lang), text }) : element("span", {}, ...inLanguages(text, this.desk)),
    );
    this.part.say.replaceChildren(...made.flatMap((one, place) => (place ? [" ", one] : [one])));
  }

  // A notice, in a live region of its own, so that it does not cut off what a key has done.
  tell(text) {
    this.part.tell.replaceChildren(...inLanguages(text, this.desk));
  }

  spoken(item) {
    if (this.desk.veiled) return [[this.t("The text is covered until you open it."), null]];
    return spoken(item, this.desk);
  }

  focusNote() {
    this.part.note.value = this.desk.draft.note;
    this.part.note.focus();
  }

  focusSearch() {
    this.part.searchForm.hidden = false;
    this.part.search.value = "";
    this.part.search.focus();
  }

  focusDesk() {
    this.root.focus({ preventScroll: true });
  }

  focusPast() {
    this.part.past.querySelector("button")?.focus();
  }

  focusHelp() {
    this.part.help.querySelector("h2")?.focus();
  }
}
