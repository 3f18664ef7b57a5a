// Keys for generations. A digit decides; letters set what goes with the label; in mark mode letters jump to words.

const GENERATION_LETTERS = {
  KeyM: "mark",
  KeyN: "note",
  KeyX: "skip",
  KeyU: "undo",
  KeyH: "history",
  KeyW: "own",
};

const MOVES = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: "up", ArrowDown: "down", Home: "first", End: "last" };

const SIDES = { ArrowLeft: "first", ArrowRight: "second" }; // of a comparison: the desk's first text is on the left

// The letter or digit of a key by its place, lower case; null for other keys.
function characterOf(event) {
  return digitOf(event) ?? /^Key([A-Z])$/.exec(event.code)?.[1].toLowerCase() ?? null;
}

function isEnter(event) {
  return event.code === "Enter" || event.code === "NumpadEnter";
}

function choiceOf(event, choices, character = characterOf(event)) {
  const choice = character && choices.find((one) => one.key.toLowerCase() === character);
  return choice ? { name: "choose", code: choice.code } : null;
}

// What a key means that the scheme has given to a flag or a kind of span, or null.
function lettersOf(character, scheme) {
  return (character && scheme.letters[placeOf(character)]) ?? null;
}

function markingAction(event, choices, scheme) {
  const move = MOVES[event.code];
  if (move !== undefined) return { name: "move", by: move, extend: event.shiftKey, repeats: true };
  if (event.shiftKey) return null;
  if (event.code === "Space") return { name: "put" };
  if (event.code === "Backspace" || event.code === "Delete") return { name: "remove" };
  if (isEnter(event)) return { name: "confirm" };
  if (event.code === "KeyM") return { name: "mark" };
  const digit = digitOf(event);
  const letter = characterOf(event.typed ?? event); // a key that was moved still writes its letter
  const moved = event.typed && /[a-z]/.test(letter);
  const choice = moved ? null : choiceOf(event, choices, scheme.digitsOnly ? digit : characterOf(event));
  if (choice) return choice;
  const kind = lettersOf(digit, scheme);
  if (kind?.name === "span") return { name: "kind", code: kind.code };
  return letter ? { name: "jump", letter } : null;
}

// While a scale is asked: a digit is its answer, the key of another one asks that.
function askingAction(event, scheme) {
  if (event.shiftKey) return null;
  if (isEnter(event)) return { name: "confirm" };
  const digit = digitOf(event.typed ?? event);
  if (digit !== null) return { name: "digit", digit };
  if (event.code === "ArrowLeft" || event.code === "ArrowRight") return { name: "step", by: MOVES[event.code], repeats: true };
  const asked = lettersOf(characterOf(event), scheme);
  return asked?.name === "ask" ? asked : null;
}

// The action that a key means in a mode, or null. Modes: label, ask, mark, tags, note, search, help.
function generationAction(event, mode, { choices, scheme, veiled }) {
  const sign = signOf(event);
  if (sign === "help") return { name: "help" };
  if (event.code === "Escape" || event.key === "Escape") return { name: "back" };
  if (mode === "help" || mode === "note" || mode === "search") return null;
  if (mode === "mark") return markingAction(event, choices, scheme);
  if (mode === "ask") return askingAction(event, scheme);
  if (event.shiftKey) return null;
  if (mode === "tags") {
    if (isEnter(event) || event.code === "KeyT") return { name: "back" };
    const key = characterOf(event);
    return key ? { name: "reason", key } : null;
  }
  if (sign === "search") return { name: "search" };
  if (isEnter(event)) return { name: "confirm" };
  if (event.code === "Space") return veiled ? { name: "open" } : null;
  const side = scheme.compares && SIDES[event.code];
  if (side) return { name: "choose", code: side };
  const letter = GENERATION_LETTERS[event.code];
  return choiceOf(event, choices) ?? (letter ? { name: letter } : lettersOf(characterOf(event), scheme));
}

// The tags of the built-in scheme that are in the panel.
function tagsOf(desk) {
  return desk.data.scheme ? [] : desk.data.reasons.filter((one) => one.code !== "degenerate");
}

// The rows of the key map for generations.
function generationHelp(desk) {
  const t = (text) => desk.t(text);
  const choices = desk.data.choices.map((one) => [one.key.toUpperCase(), described(one)]);
  const { scheme } = desk;
  const marking = [
    ["M", t("mark words; press again for the other kind of mark")],
    ["← → ↑ ↓", t("while marking: move to another word; with Shift, select several")],
    ["␣", t("while marking: mark or unmark a word; also opens a covered text")],
    ["⌫", t("while marking: remove the mark")],
  ];
  return [
    ...choices,
    ...(scheme.compares ? [["← →", t("choose the left or the right text")]] : []),
    ...scheme.help(),
    ...(scheme.kinds.length ? marking : []),
    ["Enter", t("save a choice that is waiting for a mark, or save an earlier decision again")],
    ...(desk.queue?.pilot ? [["W", t("in a pilot: a tag in your own words")]] : []),
    ["Esc", t("go back without changes")],
    ["N", t("write a note on this text")],
    ["X", t("skip: the item comes back once, at the end")],
    ["U", t("undo the last decision; press again for the one before")],
    ["H", t("go to my recent decisions; open one with the arrow keys and Enter")],
    ["/", t("search my decisions")],
    ["?", t("show this list")],
    ...tagsOf(desk).map((one) => [one.key.toUpperCase(), `${t("Tags")}: ${one.label}`]),
  ];
}
