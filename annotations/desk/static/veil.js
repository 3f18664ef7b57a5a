// A text that may hurt is covered until it is opened: every text of a model where the project says so, and of sentences
// those that were flagged.

const ALWAYS = ["open", "skip", "undo", "help", "search", "history", "back"]; // what needs no text in view

// What was opened once stays open.
function isVeiled(desk) {
  const item = desk.screen?.item;
  if (!item || desk.editing || item.before || !desk.covers(item)) return false;
  return !desk.opened?.has(item.id);
}

// Whether an act has to wait until the text is open; says so.
function waitsForOpening(desk, name) {
  if (!desk.veiled || ALWAYS.includes(name)) return false;
  desk.view.say(desk.t("Open the text first: press Space or tap it."));
  return true;
}

// The time on a text is the time that it could be read.
function unveil(desk) {
  if (!desk.veiled) return;
  desk.opened = (desk.opened ?? new Set()).add(desk.screen.item.id);
  desk.onScreen(desk.screen.item);
  desk.draw();
  desk.view.focusDesk();
  desk.view.say(spokenTexts(desk.screen.item, desk));
}

function drawVeil(part, desk) {
  part.unveil.hidden = !desk.veiled;
  for (const text of [part.text, part.second]) {
    text.classList.toggle("veiled", desk.veiled);
    text.setAttribute("aria-hidden", String(desk.veiled));
  }
}
