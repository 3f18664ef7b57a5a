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

function drawSentence(place, item, masked, t) {
  if (!item) return place.replaceChildren();
  const [before, word, after] = parts(item);
  if (!item.word) return place.replaceChildren(before);
  return place.replaceChildren(before, masked ? cover(t) : keyword(word, item.side, t), after);
}

// Every reading that S shows: the counterpart in the original form, both words in the masked one, male word first.
function readingsOf(item, masked) {
  if (!item?.word || !item.counterpart) return [];
  const [, word] = parts(item);
  const other = { side: otherSide(item.side), word: item.counterpart };
  if (!masked) return [other];
  const own = { side: item.side, word };
  return item.side === "female" ? [other, own] : [own, other];
}

function drawReading(item, reading, t) {
  const [before, , after] = parts(item);
  const side = element("b", { class: `which ${reading.side || "plain"}`, text: sideWord(reading.side, t) });
  return element("p", { class: "reading" }, side, before, keyword(reading.word, reading.side, t, true), after);
}

// What a screen reader says of an item.
function spoken(item, masked, t) {
  if (!item.word) return item.text;
  const [before, word, after] = parts(item);
  if (masked) return `${before} ${t("covered word")} ${after}`;
  return `${item.text} ${sideWord(item.side, t)}: ${word}`;
}

// A comparison: two texts, of which one is on the right.
function isPair(item) {
  return item?.second !== undefined;
}

function spokenTexts(item, t) {
  return isPair(item) ? `${t("Left text")}: ${item.text} ${t("Right text")}: ${item.second}` : item.text;
}

function oneLine(item, masked) {
  if (isPair(item)) return `${item.text} ‖ ${item.second}`;
  const [before, word, after] = parts(item);
  return before + (masked && item.word ? "▢▢" : word) + after;
}
