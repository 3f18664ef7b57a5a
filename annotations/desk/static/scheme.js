// What a label of generations can say beside its choice: by the built-in scheme, or by the project's own.

const EXPLAINED = {
  wanted: (t) => t("Misgendering: mark the wrong pronoun, then press Enter to save."),
  forbidden: (t) => t("“No pronoun” was chosen, but a pronoun is marked. Remove the mark or choose another label."),
  words: (t) => t("Extraneous gendered language is flagged: mark the words, then press Enter to save."),
};

// Where the key of a letter or digit is, as `event.code` says it.
function placeOf(character) {
  return `${/[0-9]/.test(character) ? "Digit" : "Key"}${character.toUpperCase()}`;
}

class BuiltInScheme {
  constructor(desk) {
    this.data = desk.data;
    this.t = (text, values) => desk.t(text, values);
  }

  // The kinds of marks: their names, the small word above a marked text, how they look.
  get kinds() {
    const { t } = this;
    return [
      { code: "pronoun", key: "", label: t("Wrong pronoun"), word: t("wrong pronoun"), look: "pronoun" },
      { code: "extraneous", key: "", label: t("Gendered word"), word: t("gendered"), look: "extraneous" },
    ];
  }

  get letters() {
    return { KeyF: { name: "flag", marks: true }, KeyB: { name: "degenerate" }, KeyT: { name: "tags" } };
  }

  digitsOnly = false; // while words are marked, a letter may be the key of a choice

  broken(choice, draft) {
    return brokenRule(choice, draft);
  }

  // Whether a rule that is broken wants one more mark, and of which kind.
  wants(broken) {
    return broken === "wanted" ? "pronoun" : broken === "words" ? "extraneous" : null;
  }

  explanation(broken) {
    return EXPLAINED[broken]?.(this.t) ?? this.t("Mark words in the text.");
  }

  toggles() {
    const { t } = this;
    const degenerate = this.data.reasons.find((one) => one.code === "degenerate");
    return [
      ["flag", "F", t("Extraneous gendered language")],
      ["mark", "M", t("Mark words")],
      ...(degenerate ? [["degenerate", "B", degenerate.label]] : []),
      ["tags", "T", t("Tags")],
      ["note", "N", t("Note")],
    ];
  }

  questions = [];

  pressed({ act }, draft) {
    const held = {
      flag: draft.flag,
      degenerate: draft.reasons.has("degenerate"),
      tags: [...draft.reasons].some((one) => one !== "degenerate"),
    };
    return Boolean(held[act]);
  }

  help() {
    const { t } = this;
    const degenerate = this.data.reasons.find((one) => one.code === "degenerate");
    return [
      ["F", t("extraneous gendered language: words for a gender that the context does not imply")],
      ...(degenerate ? [["B", degenerate.label]] : []),
      ["T", t("tags: one key each; several are allowed")],
    ];
  }
}

const LOOKS = 6; // kinds of spans that look different; the small word tells the others apart

class OwnScheme {
  constructor(desk) {
    this.data = desk.data;
    this.own = desk.data.scheme;
    this.t = (text, values) => desk.t(text, values);
  }

  get kinds() {
    return this.own.spans.map((one, place) => ({ ...one, word: one.label, look: `own own-${place % LOOKS}` }));
  }

  // Its scales; the text that it may ask for is the note of the label.
  get questions() {
    return this.own.questions.filter((one) => one.points.length);
  }

  get asksText() {
    return this.own.questions.find((one) => !one.points.length) ?? null;
  }

  // What a label may have among its reasons, in the order of the scheme.
  get beside() {
    return [...this.data.reasons, ...this.own.points];
  }

  // Its flags, kinds and scales by their keys.
  get letters() {
    const asked = this.questions.map((one) => [one.key, { name: "ask", code: one.code }]);
    const flags = this.data.reasons.map((one) => [one.key, { name: "flagged", code: one.code }]);
    const spans = this.own.spans.map((one) => [one.key, { name: "span", code: one.code }]);
    return Object.fromEntries([...flags, ...spans, ...asked].filter(([key]) => key).map(([key, act]) => [placeOf(key), act]));
  }

  digitsOnly = true; // a letter goes to a word

  get compares() {
    return this.own.compares;
  }

  // What is missing first: a question without its answer ("code?"), or a span with its kind ("code>kind").
  broken(choice, { reasons, marks, note }) {
    const answered = ({ code, points }) => (points.length ? points.some((n) => reasons.has(`${code}:${n}`)) : note.trim());
    const open = this.own.questions.find((one) => one.required && !answered(one));
    if (open) return `${open.code}?`;
    const said = [choice, ...this.data.reasons.map((one) => one.code).filter((one) => reasons.has(one))];
    const lacks = said.find((code) => this.own.needs[code] && !has(marks, this.own.needs[code]));
    return lacks === undefined ? null : `${lacks}>${this.own.needs[lacks]}`;
  }

  wants(broken) {
    return broken?.split(">")[1] ?? null;
  }

  explanation(broken) {
    if (!broken) return this.t("Mark words in the text.");
    if (broken.endsWith("?")) {
      const open = this.own.questions.find((one) => `${one.code}?` === broken);
      return this.t("{question}: answer this first, then press Enter to save.", { question: open?.label ?? broken });
    }
    const [code, kind] = broken.split(">");
    const named = (options, one) => options.find((option) => option.code === one)?.label ?? one;
    return this.t("{what}: mark {kind}, then press Enter to save.", {
      what: named([...this.data.choices, ...this.data.reasons], code),
      kind: named(this.own.spans, kind),
    });
  }

  toggles() {
    const { t } = this;
    return [
      ...this.data.reasons.map((one) => ["flagged", one.key.toUpperCase(), one.label, { "data-code": one.code, title: one.about }]),
      ...(this.own.spans.length ? [["mark", "M", t("Mark words")]] : []),
      ["note", "N", this.asksText?.label ?? t("Note"), { title: this.asksText?.about }],
    ];
  }

  pressed({ code }, draft) {
    return Boolean(code) && draft.reasons.has(code);
  }

  help() {
    const listed = [...this.data.reasons, ...this.own.spans].filter((one) => one.key);
    const asked = this.questions.filter((one) => one.key);
    return [
      ...listed.map((one) => [one.key.toUpperCase(), described(one)]),
      ...asked.map((one) => [one.key.toUpperCase(), `${described(one)} (${one.points[0]} – ${one.points.at(-1)})`]),
    ];
  }
}

// The scales as rows of buttons; those of the one that is asked stand out.
function drawQuestions(place, desk, view) {
  const { scheme, draft, mode } = desk;
  place.hidden = !scheme.questions.length || mode === "mark" || mode === "tags";
  const looks = JSON.stringify([scheme.questions, [...draft.reasons], mode === "ask" && desk.asked, Boolean(desk.screen.item)]);
  if (place.looks === looks) return;
  place.looks = looks;
  const end = (text, where) => (text ? [element("span", { class: `end ${where}` }, stored(text, desk))] : []);
  const rows = scheme.questions.map((one) => {
    const points = one.points.map((n) =>
      element("button", {
        type: "button",
        "data-act": "answer",
        "data-code": `${one.code}:${n}`,
        "aria-pressed": String(draft.reasons.has(`${one.code}:${n}`)),
        disabled: !desk.screen.item,
        text: n,
      }),
    );
    const name = [...(one.key ? [element("kbd", { text: desk.keymap.shown(one.key.toUpperCase()), "aria-hidden": "true" })] : []), stored(one.label, desk)];
    const asked = mode === "ask" && desk.asked === one.code;
    return element(
      "div",
      { class: asked ? "question asked" : "question", role: "group", "aria-label": one.label, title: one.about },
      element("span", { class: "name" }, ...name, ...(one.required ? [element("i", { text: "*", title: view.t("required") })] : [])),
      element("span", { class: "points" }, ...end(one.ends.low, "low"), ...points, ...end(one.ends.high, "high")),
    );
  });
  const why = mode === "ask" && desk.pending ? [element("p", { class: "because", text: scheme.explanation(desk.broken) })] : [];
  place.replaceChildren(...why, ...rows);
}

function schemeOf(desk) {
  return desk.data.scheme ? new OwnScheme(desk) : new BuiltInScheme(desk);
}

function described({ label, about }) {
  return about ? `${label}: ${about}` : label;
}
