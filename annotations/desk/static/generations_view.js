// Draws a generation: who is meant, the context, the text with its marks, and what goes with a label.

const ROOM = 10; // characters from one small word above the text to the next

class GenerationView extends View {
  listen() {
    super.listen();
    this.pointer = new MarkPointer(this.desk, this.part.text);
  }

  words() {
    super.words();
    const { part, t, desk } = this;
    for (const text of [part.second, part.context]) this.inProjectLanguage(text);
    this.markingLooks = part.questions.looks = null;
    part.leftTitle.textContent = t("Left text");
    part.rightTitle.textContent = t("Right text");
    part.contextTitle.textContent = t("Context");
    part.textTitle.textContent = t("Completion");
    part.card.setAttribute("aria-label", t("Text"));
    part.toggles.setAttribute("aria-label", t("Recorded with the label"));
    part.why.setAttribute("aria-label", t("Tags"));
    part.marking.setAttribute("aria-label", t("Marking"));
    part.toggles.replaceChildren(...this.toggles());
    part.readings.hidden = true;
  }

  buttons() {
    const { t } = this;
    const choices = this.desk.data.choices.map((one) =>
      this.button("choose", one.key.toUpperCase(), one.label, {
        "data-code": one.code,
        class: this.desk.data.scheme ? "choice" : `choice ${one.code}`,
        title: one.about,
      }),
    );
    const rest = [
      ["skip", "X", t("Skip")],
      ["undo", "U", t("Undo")],
    ];
    return [...choices, ...rest.map(([act, key, label]) => this.button(act, key, label, { class: act }))];
  }

  toggles() {
    const made = this.desk.scheme.toggles();
    return made.map(([act, key, label, more]) => this.button(act, key, label, { class: act, "aria-pressed": "false", ...more }));
  }

  reasons() {
    const made = this.desk.data.reasons.map((one) =>
      this.button("reason", one.key.toUpperCase(), one.label, { "data-code": one.code, "aria-pressed": "false" }),
    );
    return [...made, element("div", { class: "row" }, this.button("back", "↵", this.t("Done")))];
  }

  clicked(event) {
    super.clicked(event);
    const act = event.target.closest("[data-act]")?.dataset.act;
    // After a click the next key is for the desk again, not for the button that was clicked.
    if (event.detail && !["note", "search", "help", "history", "tag", "untag"].includes(act) && this.desk.mode !== "note") this.focusDesk();
  }

  drawItem(item) {
    const { desk, part, t } = this;
    const fresh = this.text !== `${item?.id}`;
    if (fresh) {
      this.text = `${item?.id}`;
      part.context.textContent = item?.context ?? "";
      this.drawSecond(item);
      this.drawWho(item);
      this.meta(item);
      if (part.card.getBoundingClientRect().top < 0) part.card.scrollIntoView({ block: "start" });
    }
    const marking = desk.mode === "mark";
    const looks = JSON.stringify([item?.id, desk.draft.marks, marking && [desk.cursor, desk.anchor, this.pointer?.range]]);
    if (this.looks !== looks) {
      this.looks = looks;
      part.text.replaceChildren(...(item ? markedText(desk, marking) : []));
    }
    part.given.hidden = !item?.context?.trim();
    part.textTitle.hidden = !item || isPair(item);
    part.who.hidden = !item || (isPair(item) && !item.name && !item.sets.length);
  }

  // Of a comparison the text on the right, and a name for both: they are groups for a screen reader.
  drawSecond(item) {
    const { part, t, root } = this;
    const pair = isPair(item);
    root.dataset.pair = pair;
    part.other.hidden = part.leftTitle.hidden = !pair;
    const begun = pair ? item.second.length - item.second.trimStart().length : 0;
    const lead = element("span", { class: "lead", text: pair ? item.second.slice(0, begun) : "" });
    part.second.replaceChildren(lead, pair ? item.second.slice(begun) : "");
    for (const [side, name] of [[part.one, t("Left text")], [part.other, t("Right text")]]) {
      if (pair) side.setAttribute("aria-label", name);
      else side.removeAttribute("aria-label");
    }
  }

  drawWho(item) {
    const { part, t } = this;
    if (!item) return part.who.replaceChildren();
    const sets = item.sets.map((one) =>
      one.none
        ? element("span", { class: "forms", text: t("no pronouns, name only") })
        : element("bdi", { class: "forms", lang: tagOf(this.desk.data.project.language), text: one.forms.join(" / ") }),
    );
    const between = () => element("span", { class: "soft", text: t("or") });
    const listed = sets.flatMap((one, place) => (place ? [between(), one] : [one]));
    const unknown = element("span", { class: "soft", text: t("pronouns not given") });
    return part.who.replaceChildren(
      element("b", {}, item.name ? stored(item.name, this.desk) : t("name not given")),
      ...(sets.length ? listed : [unknown]),
      ...(sets.length > 1 ? [element("span", { class: "soft", text: t("(any of these is correct)") })] : []),
    );
  }

  meta() {}

  readings() {}

  panels(item) {
    super.panels(item);
    const { desk, part, t } = this;
    const { draft, mode } = desk;
    const { scheme } = desk;
    const pressed = { mark: draft.marks?.length > 0, note: Boolean(draft.note) };
    for (const button of part.toggles.children) {
      button.disabled = !item;
      const held = pressed[button.dataset.act] ?? scheme.pressed(button.dataset, draft);
      button.setAttribute("aria-pressed", String(Boolean(held)));
    }
    part.why.hidden = mode !== "tags";
    part.acts.hidden = mode === "tags";
    part.toggles.hidden = mode === "mark" || mode === "tags";
    const names = desk.data.reasons.filter((one) => draft.reasons.has(one.code)).map((one) => one.label);
    part.toggles.hidden = part.toggles.hidden || (mode === "ask" && Boolean(desk.pending));
    part.tagged.hidden = !names.length || mode === "tags" || Boolean(desk.data.scheme); // own flags are pressed buttons
    part.tagged.replaceChildren(...(names.length ? inLanguages(`${t("Tags")}: ${names.join(", ")}`, desk) : []));
    drawQuestions(part.questions, desk, this);
    part.marking.hidden = mode !== "mark";
    if (mode === "mark") this.drawMarking();
  }

  drawMarking() {
    const { desk, part, t } = this;
    const looks = [desk.kind, desk.broken, desk.pending, desk.data.language].join();
    if (this.markingLooks === looks) return;
    this.markingLooks = looks;
    const next = desk.nextKind();
    const kinds = desk.scheme.kinds.map((one) =>
      this.button("kind", desk.kind !== one.code && one.code === next ? "M" : "", one.label, {
        "data-code": one.code,
        class: `kind ${one.look}`,
        title: one.about,
        "aria-pressed": String(desk.kind === one.code),
      }),
    );
    const save = desk.pending ? t("Save: {choice}", { choice: desk.labelOf(desk.pending) }) : t("Done");
    part.marking.replaceChildren(
      element("p", { class: desk.broken ? "because" : "soft", "data-part": "because", text: this.explanation() }),
      element(
        "div",
        { class: "row" },
        ...kinds,
        this.button("remove", "⌫", t("Remove mark")),
        this.button("back", "Esc", t("Back")),
        this.button("confirm", "↵", save, { class: "store", "data-enter": "finish" }),
      ),
      element("p", {
        class: "soft hint",
        text: t(
          "Tap or drag over words, or use the arrow keys (with Shift for several words) and Space. A letter jumps to the next word that begins with it.",
        ),
      }),
    );
  }

  // Why the desk is in mark mode.
  explanation() {
    return this.desk.scheme.explanation(this.desk.broken);
  }

  kindName(kind) {
    return this.desk.scheme.kinds.find((one) => one.code === kind)?.label ?? kind;
  }

  was(before, editing) {
    const what = this.desk.whatOf(before, ...(before.extraneous ? [this.t("Extraneous gendered language")] : []));
    if (editing) return this.t("Earlier decision: {what}. Press Enter to save your changes, Esc to leave it unchanged.", { what });
    return before.choice === "skip"
      ? this.t("Undone: {what}", { what })
      : this.t("Undone: {what}. Press Enter to save it again.", { what });
  }

  showCursor() {
    this.part.text.querySelector(".cursor")?.scrollIntoView({ block: "nearest" });
  }

  spoken(item) {
    if (this.desk.veiled) return super.spoken(item);
    return [[item.context, this.desk.data.project.language], ...spokenTexts(item, this.desk)];
  }

  // The word on the next line, or the one before, that is nearest to where the cursor is.
  lineStep(cursor, way) {
    const boxes = [...this.part.text.querySelectorAll("[data-piece]")].map((one) => ({
      place: Number(one.dataset.piece),
      box: one.getBoundingClientRect(),
    }));
    const here = boxes.find((one) => one.place === cursor)?.box;
    if (!here) return cursor;
    const stops = boxes.filter(({ place }) => this.desk.words.stops.includes(place));
    const other = stops.filter(({ box }) => (way === "down" ? box.top >= here.bottom - 4 : box.bottom <= here.top + 4));
    const away = ({ box }) => [Math.abs(box.top - here.top), Math.abs(box.left + box.right - here.left - here.right)];
    const near = other.map((one) => ({ place: one.place, away: away(one) }));
    near.sort((one, two) => (Math.abs(one.away[0] - two.away[0]) > 8 ? one.away[0] - two.away[0] : one.away[1] - two.away[1]));
    return near[0]?.place ?? cursor;
  }
}

// Pieces as elements, marked ones inside a mark; together they hold the text exactly.
function markedText(desk, marking) {
  const { words, draft, cursor, anchor } = desk;
  const kinds = new Map(desk.scheme.kinds.map((one) => [one.code, one]));
  const chosen = marking ? (desk.view?.pointer?.range ?? [anchor ?? cursor, cursor]) : [-1, -2];
  const [low, high] = [Math.min(...chosen), Math.max(...chosen)];
  const made = [];
  let open = null;
  const begun = words.pieces.findIndex((piece) => piece.text.trim());
  words.pieces.forEach((piece, place) => {
    const mark = draft.marks.find(([start, end]) => start < piece.end && end > piece.start);
    const classes = [place >= low && place <= high && "chosen", place === cursor && marking && "cursor"].filter(Boolean);
    if (place < begun) classes.push("lead");
    const one = element("span", { "data-piece": place, class: classes.join(" ") || null, text: piece.text });
    if (!mark) made.push(one);
    else if (open?.mark === mark) open.element.append(one);
    else {
      const { word: told, look } = kinds.get(mark[2]) ?? { word: mark[2], look: "" };
      const room = !open || mark[0] - open.told >= ROOM;
      const looks = { class: look, title: told, "data-word": room ? told : null };
      open = { mark, element: element("mark", looks, one), told: room ? mark[0] : open.told };
      made.push(open.element);
    }
  });
  return made;
}

// Marking by mouse, pen and finger: from the piece where it goes down to the piece where it is let go.
class MarkPointer {
  constructor(desk, place) {
    this.desk = desk;
    this.place = place;
    this.range = null;
    place.onpointerdown = (event) => this.down(event);
    place.onpointermove = (event) => this.range && this.to(this.under(event));
    place.onpointerup = (event) => this.up(event);
    place.onpointercancel = () => this.drop(); // the browser scrolls instead
  }

  under(event) {
    const found = this.place.getRootNode().elementFromPoint(event.clientX, event.clientY)?.closest("[data-piece]");
    const piece = found ? Number(found.dataset.piece) : null;
    return this.desk.words?.canMark(piece) ? piece : null;
  }

  down(event) {
    if (event.button !== 0 || !event.isPrimary) return;
    if (this.desk.wantsWords) this.desk.startMarking("extraneous");
    if (this.desk.mode !== "mark") return;
    const piece = this.under(event);
    if (piece === null) return;
    event.preventDefault();
    this.place.setPointerCapture(event.pointerId);
    this.range = [piece, piece];
    this.desk.draw();
  }

  to(piece) {
    if (piece === null || piece === this.range[1]) return;
    this.range[1] = piece;
    this.desk.draw();
  }

  up(event) {
    const { range } = this;
    if (!range) return;
    this.range = null;
    const again = range.join() === this.last && event.timeStamp - this.when < 400; // the second half of a double click
    [this.last, this.when] = [range.join(), event.timeStamp];
    if (again) this.desk.draw();
    else this.desk.put(...range);
    this.desk.view.focusDesk();
  }

  drop() {
    this.range = null;
    this.desk.draw();
  }
}
