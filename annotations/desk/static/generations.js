// The desk for what models wrote: a label with a flag, tags and marks in the text. A digit stores it at once, unless a
// rule wants something first: then the desk goes to mark mode, says why, and Enter stores.

class GenerationDesk extends Desk {
  makeView() {
    return new GenerationView(this);
  }

  covers() {
    return Boolean(this.data.project.blur);
  }

  get scheme() {
    return schemeOf(this);
  }

  actionOf(event) {
    return generationAction(this.keymap.meant(event), this.mode, { choices: this.data.choices, scheme: this.scheme, veiled: this.veiled });
  }

  actions(action, time) {
    return {
      ...super.actions(action, time),
      flag: () => this.flag(action.marks),
      mark: () => (this.mode === "mark" ? this.switchKind() : this.startMarking()),
      kind: () => this.switchKind(action.code),
      tags: () => this.openTags(),
      degenerate: () => this.tag("degenerate"),
      flagged: () => this.tag(action.code),
      span: () => this.startMarking(action.code),
      ask: () => this.ask(action.code),
      answer: () => this.answer(action.code),
      digit: () => this.answerDigit(action.digit),
      step: () => this.stepAnswer(action.by),
      move: () => this.move(action.by, action.extend),
      jump: () => this.jump(action.letter),
      put: () => this.put(),
      remove: () => this.remove(),
      confirm: () => this.confirm(time),
    };
  }

  begin(item) {
    super.begin(item);
    if (["mark", "tags", "ask"].includes(this.mode)) this.mode = "label";
    const before = this.editing ?? item?.before;
    const { choice = null, extraneous = false, spans = [] } = before ?? {};
    const { kinds } = this.scheme;
    const text = Array.from(item?.text ?? "");
    const canStand = ([start, end, kind]) => isWord(text.slice(start, end).join("")) && kinds.some(({ code }) => code === kind);
    const marks = spans.filter(canStand).map((one) => [...one]); // older labels may have marked punctuation
    Object.assign(this.draft, { flag: Boolean(extraneous) && !this.data.scheme, marks, put: null });
    this.earlier = choice === "skip" ? null : choice; // Enter stores it again
    this.pending = this.broken = null; // a choice that waits for its mark, and the rule that it would break
    this.words = item ? new Words(item.text, this.data.project.language) : null;
    this.kind = kinds[0]?.code ?? null;
    this.cursor = this.anchor = null;
  }

  openTags() {
    if (this.mode === "tags") return this.back();
    this.open("tags");
    return this.view.say(this.t("tags: one key each; several are allowed"));
  }

  details(reasons) {
    const extraneous = this.data.scheme ? null : this.draft.flag;
    return { ...super.details(reasons), extraneous, spans: this.draft.marks };
  }

  choose(code, time) {
    const item = this.shown(time);
    if (!item || !this.data.choices.some((one) => one.code === code)) return;
    const broken = this.data.project.checked ? this.scheme.broken(code, this.draft) : null;
    if (!broken) return this.finishWith(item, code);
    this.pending = code;
    this.broken = broken;
    if (broken.endsWith("?")) return this.askFirst(broken.slice(0, -1));
    this.startMarking(this.scheme.wants(broken) ?? "pronoun");
    return this.view.say(this.view.explanation());
  }

  // A choice waits for an answer: of a scale at its place, of a text in the note.
  askFirst(code) {
    if (this.scheme.questions.some((one) => one.code === code)) this.ask(code);
    else {
      this.mode = "label";
      this.openNote(this.scheme.asksText.label);
    }
    this.view.say(this.view.explanation());
  }

  ask(code) {
    if (!this.screen.item) return;
    this.asked = code;
    this.mode = "ask";
    this.draw();
    this.view.focusDesk();
    this.view.say(this.scheme.questions.find((one) => one.code === code)?.label ?? "");
  }

  // An answer takes the place of the one before, and the same once more takes it back.
  answer(code) {
    if (!this.screen.item || !this.data.scheme?.points.some((one) => one.code === code)) return;
    const [question] = code.split(":");
    const there = this.draft.reasons.has(code);
    for (const one of this.draft.reasons) if (one.startsWith(`${question}:`)) this.draft.reasons.delete(one);
    if (!there || this.pending) this.draft.reasons.add(code);
    this.afterAnswer(question);
    this.view.say(there && !this.pending ? this.t("{tag}: no", { tag: this.labelOf(code) }) : this.labelOf(code));
  }

  // With a choice that waits, the next question is asked; Enter stores when nothing is missing any more.
  afterAnswer(question) {
    this.asked = question;
    if (this.mode === "ask" && !this.pending) this.mode = "label";
    const broken = this.pending && this.scheme.broken(this.pending, this.draft);
    if (broken?.endsWith("?") && this.scheme.questions.some((one) => `${one.code}?` === broken)) {
      this.broken = broken;
      this.asked = broken.slice(0, -1);
    }
    this.draw();
  }

  answerDigit(digit) {
    const { points = [] } = this.scheme.questions.find((one) => one.code === this.asked) ?? {};
    const n = digit === "0" && !points.includes(0) ? 10 : Number(digit);
    if (points.includes(n)) this.answer(`${this.asked}:${n}`);
  }

  stepAnswer(by) {
    const { points = [] } = this.scheme.questions.find((one) => one.code === this.asked) ?? {};
    const now = points.findIndex((n) => this.draft.reasons.has(`${this.asked}:${n}`));
    const to = points[now < 0 ? 0 : now + by];
    if (to === undefined) return;
    const { asked } = this;
    this.answer(`${asked}:${to}`);
    this.asked = asked;
    this.mode = "ask";
    this.draw();
  }

  finishWith(item, code) {
    this.pending = this.broken = null;
    const known = this.data.scheme ? this.scheme.beside : this.data.reasons;
    const reasons = known.map((one) => one.code).filter((one) => this.draft.reasons.has(one));
    this.store(item, code, reasons);
  }

  closeNote(keep) {
    super.closeNote(keep);
    if (keep && this.pending && this.mode === "label") this.choose(this.pending, performance.now());
    else if (this.mode === "label") this.pending = this.broken = null;
  }

  labelOf(code) {
    return this.data.scheme?.points.find((one) => one.code === code)?.label ?? super.labelOf(code);
  }

  // Enter: first it marks the word where none is marked that must be, then it stores what was chosen.
  confirm(time) {
    if (this.mode === "ask") return this.pending ? this.choose(this.pending, time) : this.back();
    if (this.mode !== "mark") {
      if (this.earlier) this.choose(this.earlier, time);
      return;
    }
    if (!this.pending) return this.moved && this.lacksWords ? this.put() : this.back();
    const { scheme } = this;
    if (scheme.wants(this.broken) && scheme.broken(this.pending, this.draft) === this.broken) {
      if (this.moved) return this.put(); // only a word that was gone to: two hasty Enters must not mark the first one
      return this.view.say(this.t("Go to the word first: use the arrow keys or type its first letter."));
    }
    this.choose(this.pending, time);
  }

  startMarking(kind = this.kind) {
    if (!this.screen.item || this.words.first === null || kind === null) return;
    this.kind = kind;
    this.mode = "mark";
    const mark = this.draft.marks.find((one) => one[2] === kind);
    const begin = mark ? this.words.at(mark[0]) : this.words.first;
    this.cursor = this.broken === "forbidden" ? begin : (this.cursor ?? begin);
    this.anchor = null;
    this.moved = false;
    this.draw();
    this.view.focusDesk();
    this.view.showCursor();
  }

  nextKind() {
    const codes = this.scheme.kinds.map((one) => one.code);
    return codes[(codes.indexOf(this.kind) + 1) % codes.length];
  }

  switchKind(kind = this.nextKind()) {
    this.kind = kind;
    this.draw();
    this.view.say(this.view.kindName(kind));
  }

  move(by, extend) {
    const { words, cursor } = this;
    const places = { first: words.first, last: words.stops.at(-1) };
    const line = by === "up" || by === "down";
    const to = line ? this.view.lineStep(cursor, by) : (places[by] ?? words.step(cursor, by));
    this.goTo(to, extend);
  }

  // A word that one has not gone to, the first one of a text above all, counts as one to come.
  jump(letter) {
    const [start, end] = this.words.range(this.cursor, this.cursor);
    const fresh = !this.moved && !touching(this.draft.marks, [start, end]).length;
    const place = this.words.jump(fresh ? this.cursor - 1 : this.cursor, letter);
    if (place === null) this.view.say(this.t("No word begins with {letter}.", { letter }));
    else this.goTo(place, false);
  }

  goTo(place, extend) {
    this.anchor = extend ? (this.anchor ?? this.cursor) : null;
    this.cursor = place;
    this.moved = true;
    this.draw();
    this.view.showCursor();
    const [start, end] = this.words.range(this.anchor ?? place, place);
    this.view.say([[Array.from(this.screen.item.text).slice(start, end).join(""), this.data.project.language]]);
  }

  // Mark what is chosen, or free it again.
  put(from = this.anchor ?? this.cursor, to = this.cursor) {
    if (this.mode !== "mark" || to === null) return;
    const range = this.words.range(from, to);
    this.changeMarks(toggled(this.draft.marks, range, this.kind));
    this.cursor = to;
    this.anchor = null;
    this.draw();
    this.sayMark(range);
  }

  // What is now marked at a place, and as what.
  sayMark(range) {
    const [mark] = touching(this.draft.marks, range);
    if (!mark) return this.view.say(this.t("No mark here any more."));
    const words = Array.from(this.screen.item.text).slice(mark[0], mark[1]).join("");
    return this.view.say([[`${this.view.kindName(mark[2])}:`, null], [words, this.data.project.language]]);
  }

  remove() {
    const range = this.words.range(this.anchor ?? this.cursor, this.cursor);
    this.changeMarks(without(this.draft.marks, range));
    this.anchor = null;
    this.draw();
    this.sayMark(range);
  }

  // Marked gendered words set the flag, and the last one that goes takes it along.
  changeMarks(marks) {
    if (this.data.scheme) return void (this.draft.marks = marks);
    const were = has(this.draft.marks, "extraneous");
    this.draft.marks = marks;
    if (has(marks, "extraneous") !== were) this.draft.flag = !were;
    return undefined;
  }

  get lacksWords() {
    return this.draft.flag && !has(this.draft.marks, "extraneous");
  }

  // With the flag set, a click on a word marks it.
  get wantsWords() {
    return this.mode === "label" && !this.veiled && this.lacksWords;
  }

  // Without the flag there are no marked words; with it again they are back. *marks*: set by its key, so that the next
  // keys go to the words.
  flag(marks = false) {
    const { draft } = this;
    draft.flag = !draft.flag;
    const words = draft.marks.filter((one) => one[2] === "extraneous");
    if (!draft.flag) {
      draft.put = words;
      draft.marks = draft.marks.filter((one) => one[2] !== "extraneous");
    } else {
      const free = (draft.put ?? []).filter((one) => !touching(draft.marks, one).length);
      draft.marks = inTextOrder([...draft.marks, ...free]);
    }
    this.draw();
    const said = draft.flag ? this.t("Extraneous gendered language: yes") : this.t("Extraneous gendered language: no");
    const next = this.wantsWords ? `${said}. ${this.t("Mark words in the text.")}` : said;
    if (marks && this.wantsWords) this.startMarking("extraneous");
    this.view.say(next);
  }

  tag(code) {
    if (!this.data.reasons.some((one) => one.code === code)) return;
    if (!this.draft.reasons.delete(code)) this.draft.reasons.add(code);
    this.draw();
    const tag = this.labelOf(code);
    this.view.say(this.draft.reasons.has(code) ? this.t("{tag}: yes", { tag }) : this.t("{tag}: no", { tag }));
  }

  // In the panel a key means the tag that bears it.
  reason({ code, key }) {
    const one = this.data.reasons.find((tag) => (code === undefined ? tag.key.toLowerCase() === key : tag.code === code));
    if (one && this.mode === "tags") this.tag(one.code);
  }

  openNote(hint = "") {
    if (["mark", "tags", "ask"].includes(this.mode)) this.mode = "label";
    super.openNote(hint || (this.scheme.asksText?.label ?? ""));
  }

  // A step back: out of mark mode or the tags first, then out of an earlier decision.
  back() {
    this.pending = this.broken = null;
    super.back();
  }
}
