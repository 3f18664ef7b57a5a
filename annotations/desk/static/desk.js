// The desk: what is on screen, what a key or a button does to it. The queue keeps, the view draws.

class Desk {
  constructor(data, root) {
    this.data = data;
    this.root = root;
    this.mode = "label"; // label, reject, note, search, help
    this.editing = null; // a past decision that is on screen again
    this.screen = { item: null, at: 0 };
    this.clock = new Clock();
    this.pause = new Pause();
    this.draft = { reasons: new Set(), note: "", tags: [] };
    this.held = false;
    this.opinion = null; // what a model thinks of the item just left
    this.judged = null; // the last label, whose opinion is asked for
    this.showOpinion = false; // off at every start: seeing it is a decision of its own
    this.showPace = preference("pace", true);
    this.found = null; // what a search found
    this.queue = new Queue(data, () => this.draw());
    this.keymap = new Keymap(this);
    this.view = this.makeView();
    this.keys = new Keys(this);
    this.outage = new Outage(this);
    this.leave = (event) => this.queue.outbox.unkept.size && event.preventDefault(); // the rest is in storage
    this.visible = () => this.turned();
    this.online = () => this.queue.flush();
    this.gone = () => (keepTyped(this), this.queue.flush());
    window.addEventListener("beforeunload", this.leave);
    window.addEventListener("online", this.online);
    window.addEventListener("pagehide", this.gone);
    document.addEventListener("visibilitychange", this.visible);
    this.queue.start();
    this.draw();
  }

  makeView() {
    return new View(this);
  }

  stop() {
    keepTyped(this);
    this.keys.stop();
    this.outage.stop();
    this.queue.stop();
    window.removeEventListener("beforeunload", this.leave);
    window.removeEventListener("online", this.online);
    window.removeEventListener("pagehide", this.gone);
    document.removeEventListener("visibilitychange", this.visible);
  }

  // New data from the page: a fresh token, perhaps another language.
  refresh(data) {
    const spoken = this.data.language !== data.language;
    this.data = inView(this, data);
    this.queue.server.language = data.language;
    this.queue.signIn(data.token);
    if (spoken) this.view.say("");
    this.keymap.update();
    this.view.words();
    this.draw();
  }

  t(text, values = {}) {
    const words = this.data.words[text] ?? text;
    return words.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  }

  // What belongs on screen now. While something could not be kept, nothing does (invariant 2 of docs/architecture.md).
  get wanted() {
    const { queue } = this;
    if (queue.state === "closed" || queue.left || queue.unread || queue.outbox.unkept.size) return null;
    return this.editing?.item ?? this.queue.items[0] ?? null;
  }

  // What was on screen, which is stored with a decision.
  formOf(item) {
    return item.covered ? "masked" : "original";
  }

  covers(item) {
    return Boolean(item.veil);
  }

  get veiled() {
    return isVeiled(this);
  }

  get masked() {
    return this.data.project.kind === "sentences" && this.data.project.presentation === "masked";
  }

  draw() {
    const item = this.wanted;
    const changed = item?.id !== this.screen.item?.id || item?.before !== this.screen.item?.before;
    if (changed) {
      if (this.queue.unread) keepTyped(this); // it is there again with its sentence
      this.screen = { item, at: Infinity };
      this.begin(item);
    }
    this.view.draw(item);
    if (changed) this.onScreen(item);
  }

  begin(item) {
    const before = this.editing ?? item?.before;
    this.draft = { reasons: new Set(before?.reasons ?? []), note: before?.note ?? "", tags: [...(before?.tags ?? [])] };
    if (!this.editing) takeTyped(this, item);
    this.held = false;
    if (this.mode === "reject" || this.mode === "note") this.mode = "label";
  }

  onScreen(item) {
    this.screen = { item, at: performance.now() };
    this.clock.restart();
  }

  turned() {
    this.clock.turn();
    if (!document.hidden) this.queue.flush();
  }

  actionOf(event) {
    return actionOf(this.keymap.meant(event), this.mode, this.data.choices, this.veiled);
  }

  act(action, time) {
    this.pause.note();
    if (!waitsForReading(this, action.name) && !waitsForOpening(this, action.name)) this.actions(action, time)[action.name]?.();
  }

  actions(action, time) {
    return {
      choose: () => this.choose(action.code, time),
      reason: () => this.reason(action),
      finish: () => this.finish(time),
      skip: () => this.skip(time),
      undo: () => this.undo(),
      note: () => this.openNote(),
      back: () => this.back(),
      hold: () => this.hold(true),
      help: () => this.open(this.mode === "help" ? "label" : "help"),
      search: () => this.open("search"),
      history: () => this.view.focusPast(),
      opinion: () => toggleOpinion(this),
      open: () => unveil(this),
      own: () => this.view.tags.focus(),
      tag: () => this.view.tags.take(action.code),
      untag: () => this.view.tags.remove(action.code),
    };
  }

  // Invariant 1: only what was on screen when the key went down can be labelled.
  shown(time) {
    return this.screen.item && time >= this.screen.at ? this.screen.item : null;
  }

  choose(code, time) {
    const item = this.shown(time);
    if (!item) return;
    const choice = this.data.choices.find((one) => one.code === code);
    if (!choice) return;
    if (code !== "reject") this.store(item, code, []);
    else {
      this.reasonsBefore = new Set(this.draft.reasons);
      this.mode = "reject";
      this.draw();
      this.view.focusDesk(); // Enter is for the reasons now, not for the button that had the focus
      this.view.say(this.t("Choose one or more reasons, then press Enter."));
    }
  }

  // A click names the reason itself; only a key on the keyboard is looked up.
  reason({ code, key }) {
    const reason = this.data.reasons.find((one) => (code === undefined ? one.key.toUpperCase() === key : one.code === code));
    if (!reason || this.mode !== "reject") return;
    const { reasons } = this.draft;
    if (!reasons.delete(reason.code)) reasons.add(reason.code);
    this.draw();
    const tag = reason.label;
    this.view.say(reasons.has(reason.code) ? this.t("{tag}: yes", { tag }) : this.t("{tag}: no", { tag }));
  }

  finish(time) {
    const item = this.shown(time);
    if (!item || this.mode !== "reject") return;
    const reasons = this.data.reasons.map((one) => one.code).filter((code) => this.draft.reasons.has(code));
    const tags = this.view.tags.finished();
    if (reasons.length || tags.length || this.draft.note.trim()) this.store(item, "reject", reasons);
    else this.openNote(this.t("No reason chosen. Explain in a few words."));
  }

  store(item, choice, reasons) {
    const details = { ...this.details(reasons), form: this.formOf(item) };
    this.hint = "";
    this.editing = null;
    this.mode = "label";
    const op = this.queue.decide(item, choice, details);
    forgetTyped(this, item);
    this.draw();
    const told = { choice: this.labelOf(choice) };
    this.view.say(this.screen.item ? this.t("{choice}. Next sentence.", told) : told.choice);
    askOpinion(this, item, op);
  }

  details(reasons) {
    const tags = this.view.tags.finished();
    return { reasons, tags, note: this.draft.note.trim(), seconds: this.clock.seconds };
  }

  skip(time) {
    const item = this.shown(time);
    if (!item) return;
    if (this.editing)
      return this.view.say(this.t("An earlier decision cannot be skipped. Press Esc to leave it unchanged."));
    if (!this.queue.maySkip) return this.tell(this.t("You cannot skip any more texts. Judge this one, or withdraw."));
    const again = this.queue.once.has(item.id);
    this.queue.once.add(item.id);
    this.queue.decide(item, "skip", { form: this.formOf(item) });
    forgetTyped(this, item);
    this.draw();
    this.view.say(again ? this.t("Skipped again. This item goes to others.") : this.t("Skipped. This item will reappear at the end."));
  }

  // A sentence above the card, until the next decision.
  tell(text) {
    this.hint = text;
    this.draw();
    this.view.say(text);
  }

  undo() {
    if (this.queue.left) return this.view.say(this.t("You no longer label in this project."));
    const decision = this.editing ?? this.queue.past[0];
    if (!decision) return this.view.say(this.t("Nothing to undo."));
    if (!this.queue.mayUndo(decision))
      return this.tell(this.t("Where words are covered, only the last {n} labels can be undone.", { n: UNDOABLE }));
    this.editing = null;
    this.opinion = null;
    this.hint = "";
    this.queue.takeBack(decision, this.formOf(decision.item));
    this.mode = "label";
    this.draw();
    this.view.say(this.t("Undone."));
  }

  // A past decision on screen again; J or K replaces it, Esc leaves it as it is.
  edit(decision) {
    if (!decision?.item || waitsForReading(this, "edit")) return;
    if (this.queue.left) return this.view.say(this.t("You no longer label in this project."));
    if (decision.choice === "skip") return this.takeSkipped(decision);
    this.mode = "label";
    this.editing = decision;
    this.queue.latest.set(decision.item.id, decision.op);
    this.draw();
    this.view.focusDesk();
    this.view.say(this.t("Showing an earlier decision."));
  }

  takeSkipped(decision) {
    this.queue.takeBack(decision, this.formOf(decision.item));
    this.mode = "label";
    this.draw();
  }

  async openItem(id) {
    const known = this.queue.past.find((one) => one.item.id === id);
    if (known && this.queue.mayUndo(known)) return this.edit(known); // an older one is not covered any more
    const reply = await this.request("item", { item: id });
    if (reply?.decision) this.edit(this.queue.place(reply.decision));
    return undefined;
  }

  async request(path, body) {
    try {
      return await this.queue.server.post(path, body);
    } catch (error) {
      this.view.say(error instanceof Denied ? error.message : this.t("The server is not responding. Try again later."));
      return null;
    }
  }

  openNote(hint = "") {
    if (!this.screen.item) return;
    this.noteFor = this.mode === "reject" ? "reject" : "label";
    this.noteBefore = this.draft.note;
    this.noteHint = hint;
    this.mode = "note";
    this.draw();
    this.view.focusNote();
  }

  closeNote(keep) {
    if (this.mode !== "note") return;
    if (!keep) this.draft.note = this.noteBefore;
    const finish = keep && this.noteFor === "reject" && this.draft.note.trim() && this.noteHint;
    this.mode = this.noteFor;
    if (finish) this.finish(performance.now());
    else this.draw();
    this.view.focusDesk();
    if (!finish) this.view.say(keep ? this.t("Note kept.") : this.t("Nothing has changed."));
  }

  // Out of what is open; says what that leaves.
  back() {
    const unchanged = this.mode === "reject" || (this.mode === "label" && this.editing);
    if (this.mode === "label") this.editing = null;
    if (this.mode === "reject") this.draft.reasons = this.reasonsBefore;
    this.mode = "label";
    this.found = null;
    this.draw();
    this.view.focusDesk();
    this.view.say(unchanged ? this.t("Nothing has changed.") : this.t("Back at the text."));
  }

  open(mode) {
    this.mode = mode;
    this.draw();
    if (mode === "search") this.view.focusSearch();
    if (mode === "help") this.view.focusHelp();
  }

  hold(on) {
    if (this.held === on || (on && (!this.screen.item || this.veiled))) return;
    this.held = on;
    this.view.readings(this.screen.item);
  }

  // A decision in words: the choice, its reasons, its tags.
  whatOf(decision, ...more) {
    const why = [...more, ...(decision.reasons ?? []).map((code) => this.labelOf(code)), ...hashed(decision.tags)];
    return this.labelOf(decision.choice) + (why.length ? ` (${why.join(", ")})` : "");
  }

  labelOf(code) {
    if (code === "skip") return this.t("Skipped");
    const choice = [...this.data.choices, ...this.data.reasons].find((one) => one.code === code);
    return choice ? choice.label : code;
  }
}
