// Text from a corpus: always textContent, sliced by code points, because the server counts code points.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

// Text that people wrote, with the language of what is in another one than the page.
function inLanguages(text, desk) {
  return inParts(text ?? "", desk.data.language).map(([piece, lang]) => (lang ? element("span", { lang, text: piece }) : piece));
}

// A name or label as an element of its own: its direction is its own too.
function stored(text, desk) {
  const parts = inParts(text, desk.data.language);
  if (parts.length === 1) return element("span", { dir: "auto", lang: parts[0][1], text });
  return element("span", { dir: "auto" }, ...inLanguages(text, desk));
}

function parts(item) {
  const points = Array.from(item.text);
  if (!item.word) return [item.text, "", ""];
  const [start, end] = item.word;
  return [points.slice(0, start).join(""), points.slice(start, end).join(""), points.slice(end).join("")];
}

function sideWord(side, t) {
  if (side === "male") return t("male word");
  return side === "female" ? t("female word") : t("keyword");
}

function otherSide(side) {
  if (side === "male") return "female";
  return side === "female" ? "male" : side;
}

// The small word above is drawn by CSS from the attribute: the text of the element stays the text of the item.
function keyword(text, side, t, dashed = false) {
  const kind = `keyword ${side || "plain"}${dashed ? " dashed" : ""}`;
  return element("span", { class: kind, "data-word": dashed ? null : sideWord(side, t), text });
}

// *spoken*: the same in the language of the sentence.
function cover(t, spoken) {
  return element("span", { class: "cover", role: "img", "aria-label": spoken, "data-word": t("covered word") });
}

function drawSentence(place, item, t, spoken) {
  if (!item) return place.replaceChildren();
  const [before, word, after] = parts(item);
  if (!item.word) return place.replaceChildren(before);
  return place.replaceChildren(before, item.covered ? cover(t, spoken) : keyword(word, item.side, t), after);
}

// Every reading that S shows: the counterpart, or both words, male word first, where the word is covered.
function readingsOf(item) {
  if (item?.covered) return (item.words ?? []).map((word, place) => ({ side: place ? "female" : "male", word }));
  return item?.word && item.counterpart ? [{ side: otherSide(item.side), word: item.counterpart }] : [];
}

function drawReading(item, reading, desk) {
  const t = (text) => desk.t(text);
  const [before, , after] = parts(item);
  const looks = { class: `which ${reading.side || "plain"}`, lang: desk.data.language, text: sideWord(reading.side, t) };
  return element("p", { class: "reading", dir: "auto" }, element("b", looks), before, keyword(reading.word, reading.side, t, true), after);
}

// What a screen reader says of an item: pieces, each with its language; null: that of the page.
function spoken(item, desk) {
  const { language, covered } = desk.data.project;
  if (item.covered || !item.word) return [[oneLine(item, covered), language]];
  const [, word] = parts(item);
  return [[item.text, language], [`${sideWord(item.side, (text) => desk.t(text))}:`, null], [word, language]];
}

// A comparison: two texts, of which one is on the right.
function isPair(item) {
  return item?.second !== undefined;
}

function spokenTexts(item, desk) {
  const { language } = desk.data.project;
  if (!isPair(item)) return [[item.text, language]];
  return [[`${desk.t("Left text")}:`, null], [item.text, language], [`${desk.t("Right text")}:`, null], [item.second, language]];
}

// An item in one line, for what is read aloud; *covered*: the covered word in the language of the text.
function oneLine(item, covered) {
  if (isPair(item)) return `${item.text} ‖ ${item.second}`;
  const [before, word, after] = parts(item);
  return item.covered && item.word ? `${before} ${covered} ${after}` : before + word + after;
}

// The same for the eye: a bar in place of a covered word, as wide for every word.
function lineOf(item, { data }) {
  const { language, covered } = data.project;
  const line = element("span", { class: "line", lang: tagOf(language), dir: "auto" });
  const [before, , after] = parts(item);
  const bar = () => element("span", { class: "bar-of-word", role: "img", "aria-label": covered });
  line.append(...(item.covered && item.word ? [before, bar(), after] : [oneLine(item, covered)]));
  return line;
}

// Em that a word takes: a sign of Chinese is as wide as high, a letter half of that.
function widthOf(word) {
  return Array.from(word).reduce((sum, sign) => sum + (/[\p{Script=Latin}\p{N}]/u.test(sign) ? 0.55 : 1), 0);
}

// The width of every covered word of a project: that of the word in the middle of all its words by width.
function coverWidth(pairs) {
  const widths = pairs.flatMap((pair) => pair.split("/")).filter(Boolean).map(widthOf).sort((one, other) => one - other);
  return widths.length ? widths[Math.floor(widths.length / 2)] : 2;
}
