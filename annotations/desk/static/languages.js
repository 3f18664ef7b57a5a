// The language of stored text, told by its writing where nothing else tells it: names, labels of a scheme, guidelines.
// The desk uses it, and every page (web/page_script.py). Text of a project has the language of the project instead.

const WRITINGS = ["Han", "Arabic", "Hebrew"];
const OTHER_WRITING = WRITINGS.map((name) => new RegExp(`\\p{Script=${name}}(?:[^\\p{Script=Latin}]*\\p{Script=${name}})?`, "gu"));
const LATIN_PHRASE = /\p{Script=Latin}+(?:[^\p{L}]+\p{Script=Latin}+){2,}/gu; // three words; fewer may be a name
const TAGS = { Han: "zh", Arabic: "ar", Hebrew: "he" };
const BEYOND_LATIN = /[\u0250-\u{10ffff}]/u; // most labels of an English page end the search here
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

// The parts of a text in another language than *own* (zh or en): [start, end, tag], in order.
function foreignParts(text, own) {
  const made = [];
  WRITINGS.forEach((name, place) => {
    if (name === "Han" && own === "zh") return;
    for (const match of text.matchAll(OTHER_WRITING[place])) {
      const tag = name === "Han" && KANA.test(match[0]) ? "ja" : TAGS[name];
      made.push([match.index, match.index + match[0].length, tag]);
    }
  });
  if (own === "zh") for (const match of text.matchAll(LATIN_PHRASE)) made.push([match.index, match.index + match[0].length, "en"]);
  return made.sort((one, other) => one[0] - other[0]);
}

// The pieces of a text, each with its language or null: [piece, tag].
function inParts(text, own) {
  if (own !== "zh" && !BEYOND_LATIN.test(text)) return text ? [[text, null]] : [];
  const made = [];
  let at = 0;
  for (const [start, end, tag] of foreignParts(text, own)) {
    if (start < at) continue;
    if (start > at) made.push([text.slice(at, start), null]);
    made.push([text.slice(start, end), tag]);
    at = end;
  }
  if (at < text.length) made.push([text.slice(at), null]);
  return made;
}

// The language that most letters of a text are in, or null where that is *own*.
function foreignLanguage(text, own) {
  const letters = (piece) => piece.match(/\p{L}/gu)?.length ?? 0;
  const parts = inParts(text, own);
  const [longest] = parts.filter(([, tag]) => tag).sort((one, other) => letters(other[0]) - letters(one[0]));
  const rest = parts.reduce((sum, [piece, tag]) => sum + (tag ? 0 : letters(piece)), 0);
  if (!longest) return null;
  return letters(longest[0]) * (longest[1] === "zh" ? 4 : 1) > rest ? longest[1] : null; // most words of Chinese have two signs
}
