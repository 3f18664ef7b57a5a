// Marks in a text: half-open code points, whole words, none over another. Draws nothing.

const WORD_RUN = /[\p{L}\p{M}\p{N}_]+|\s+|./gsu;
const PICTURE = /\p{Extended_Pictographic}/u;
const APART = /(['’])/u; // she's is a pronoun and a verb

// A project may name its language in words; the browser wants a tag.
function isLanguage(tag) {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

const LANGUAGE_TAGS = new Map(); // asked for with every line that is drawn

function tagOf(language) {
  if (!LANGUAGE_TAGS.has(language)) LANGUAGE_TAGS.set(language, isLanguage(language) ? language : null);
  return LANGUAGE_TAGS.get(language);
}

// Pieces of a text: what the browser takes for words of the language, "she's" in its parts; the rest by characters.
function segmentsOf(text, language) {
  if (!Intl.Segmenter) return text.match(WORD_RUN) ?? [];
  const segments = new Intl.Segmenter(isLanguage(language) ? language : undefined, { granularity: "word" }).segment(text);
  return Array.from(segments).flatMap(({ segment, isWordLike }) =>
    isWordLike ? segment.split(APART).filter(Boolean) : [segment],
  );
}

// A letter, a digit or a picture; the server asks the same of what is marked.
function isWord(text) {
  return /[\p{L}\p{N}]/u.test(text) || (PICTURE.test(text) && !/\p{P}/u.test(text));
}

class Words {
  constructor(text, language) {
    this.pieces = [];
    let start = 0;
    for (const segment of segmentsOf(text, language)) {
      const end = start + Array.from(segment).length;
      this.pieces.push({ text: segment, start, end });
      start = end;
    }
    this.stops = this.pieces.flatMap((piece, place) => (isWord(piece.text) ? [place] : []));
  }

  // Whether a piece can be marked: a word, not punctuation or space.
  canMark(place) {
    return place !== null && isWord(this.pieces[place]?.text ?? "");
  }

  get first() {
    return this.stops[0] ?? null;
  }

  // The stop before or after a piece; at the ends it stays.
  step(place, by) {
    const stops = by > 0 ? this.stops.filter((one) => one > place) : this.stops.filter((one) => one < place);
    return (by > 0 ? stops[0] : stops.at(-1)) ?? place;
  }

  // The next word that begins with a letter, from the start again after the end; null where none does.
  jump(place, letter) {
    const begins = (one) => this.pieces[one].text.normalize("NFD").toLowerCase().startsWith(letter);
    const found = this.stops.filter(begins);
    return found.find((one) => one > place) ?? found[0] ?? null;
  }

  at(point) {
    const place = this.pieces.findIndex((piece) => piece.end > point);
    return place < 0 ? this.first : place;
  }

  // From one piece to another, in code points.
  range(one, other) {
    return [this.pieces[Math.min(one, other)].start, this.pieces[Math.max(one, other)].end];
  }
}

function touching(marks, [start, end]) {
  return marks.filter(([from, to]) => from < end && to > start);
}

function inTextOrder(marks) {
  return [...marks].sort((one, other) => one[0] - other[0]);
}

// A place is marked; marked once more it is free again, and with another kind it changes its kind.
function toggled(marks, range, kind) {
  const there = touching(marks, range);
  const rest = marks.filter((one) => !there.includes(one));
  if (there.length === 1 && there[0][0] <= range[0] && there[0][1] >= range[1]) {
    const [start, end, was] = there[0];
    return was === kind ? rest : inTextOrder([...rest, [start, end, kind]]);
  }
  return inTextOrder([...rest, [...range, kind]]);
}

function without(marks, range) {
  const there = touching(marks, range);
  return marks.filter((one) => !there.includes(one));
}

function has(marks, kind) {
  return marks.some((one) => one[2] === kind);
}

// Which rule a label would break, or null: "wanted" and "forbidden" are about the wrong pronoun, "words" about the flag.
function brokenRule(choice, { flag, marks }) {
  if (choice === "misgendering" && !has(marks, "pronoun")) return "wanted";
  if (choice === "no_pronoun" && has(marks, "pronoun")) return "forbidden";
  return flag && !has(marks, "extraneous") ? "words" : null;
}
