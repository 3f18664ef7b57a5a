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

function cover(t) {
  return element("span", {
    class: "cover",
    role: "img",
    "aria-label": t("covered word"),
    "data-word": t("covered word"),
  });
}

function drawSentence(place, item, t) {
  if (!item) return place.replaceChildren();
  const [before, word, after] = parts(item);
  if (!item.word) return place.replaceChildren(before);
  return place.replaceChildren(before, item.covered ? cover(t) : keyword(word, item.side, t), after);
}

// Every reading that S shows: the counterpart, or both words, male word first, where the word is covered.
function readingsOf(item) {
  if (item?.covered) return (item.words ?? []).map((word, place) => ({ side: place ? "female" : "male", word }));
  return item?.word && item.counterpart ? [{ side: otherSide(item.side), word: item.counterpart }] : [];
}

function drawReading(item, reading, t) {
  const [before, , after] = parts(item);
  const side = element("b", { class: `which ${reading.side || "plain"}`, text: sideWord(reading.side, t) });
  return element("p", { class: "reading" }, side, before, keyword(reading.word, reading.side, t, true), after);
}

// What a screen reader says of an item.
function spoken(item, t) {
  if (!item.word) return item.text;
  const [before, word, after] = parts(item);
  if (item.covered) return `${before} ${t("covered word")} ${after}`;
  return `${item.text} ${sideWord(item.side, t)}: ${word}`;
}

// A comparison: two texts, of which one is on the right.
function isPair(item) {
  return item?.second !== undefined;
}

function spokenTexts(item, t) {
  return isPair(item) ? `${t("Left text")}: ${item.text} ${t("Right text")}: ${item.second}` : item.text;
}

// An item in one line, for what is read aloud.
function oneLine(item, t) {
  if (isPair(item)) return `${item.text} ‖ ${item.second}`;
  const [before, word, after] = parts(item);
  return item.covered && item.word ? `${before} ${t("covered word")} ${after}` : before + word + after;
}

// The same for the eye: a bar in place of a covered word, as wide for every word.
function lineOf(item, t) {
  if (!item.covered || !item.word) return [oneLine(item, t)];
  const [before, , after] = parts(item);
  return [before, element("span", { class: "bar-of-word", role: "img", "aria-label": t("covered word") }), after];
}
