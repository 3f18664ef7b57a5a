// What a label of generations can say beside its choice: by the built-in scheme, or by the project's own.

const EXPLAINED = {
  wanted: (t) => t("Misgendering: mark the wrong pronoun, then press Enter to save."),
  forbidden: (t) => t("The label No pronoun was chosen, but a pronoun is marked: remove the mark or choose another label."),
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
    return { KeyF: { name: "flag" }, KeyB: { name: "degenerate" }, KeyT: { name: "tags" } };
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
      ["F", t("extraneous gendered language: words that give a gender the context does not imply")],
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

  // Its flags and kinds by their keys.
  get letters() {
    const flags = this.data.reasons.map((one) => [one.key, { name: "flagged", code: one.code }]);
    const spans = this.own.spans.map((one) => [one.key, { name: "span", code: one.code }]);
    return Object.fromEntries([...flags, ...spans].filter(([key]) => key).map(([key, act]) => [placeOf(key), act]));
  }

  digitsOnly = true; // a letter goes to a word

  // The first of choice and flags whose span is missing, with its kind.
  broken(choice, { reasons, marks }) {
    const said = [choice, ...this.data.reasons.map((one) => one.code).filter((one) => reasons.has(one))];
    const lacks = said.find((code) => this.own.needs[code] && !has(marks, this.own.needs[code]));
    return lacks === undefined ? null : `${lacks}>${this.own.needs[lacks]}`;
  }

  wants(broken) {
    return broken?.split(">")[1] ?? null;
  }

  explanation(broken) {
    if (!broken) return this.t("Mark words in the text.");
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
      ["note", "N", t("Note")],
    ];
  }

  pressed({ code }, draft) {
    return Boolean(code) && draft.reasons.has(code);
  }

  help() {
    const listed = [...this.data.reasons, ...this.own.spans].filter((one) => one.key);
    return listed.map((one) => [one.key.toUpperCase(), described(one)]);
  }
}

function schemeOf(desk) {
  return desk.data.scheme ? new OwnScheme(desk) : new BuiltInScheme(desk);
}

function described({ label, about }) {
  return about ? `${label}: ${about}` : label;
}
