// Keys. Letters and digits by their place (event.code), so that they work with any layout and with a Chinese input
// method switched on; signs by event.key, because their place differs.

const SIGN_KEYS = { "?": "help", "？": "help", "/": "search", "、": "search" };

function inField(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element) || target.type === "radio") return false;
  return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable;
}

function signOf(event) {
  if (SIGN_KEYS[event.key]) return SIGN_KEYS[event.key];
  if (event.code !== "Slash" || event.key !== "Process") return null; // an input method hides the sign
  return event.shiftKey ? "help" : "search";
}

// The digit of a key by its place, or null.
function digitOf(event) {
  const match = /^(?:Digit|Numpad)([0-9])$/.exec(event.code);
  return match ? match[1] : null;
}

const LETTERS = { KeyN: "note", KeyX: "skip", KeyU: "undo", KeyH: "history", KeyO: "opinion", KeyT: "own" };

// The action that a key means in a mode, or null. Modes: label, reject, note, search, help.
function actionOf(event, mode, choices, veiled) {
  const sign = signOf(event);
  if (sign === "help") return { name: "help" };
  if (event.code === "Escape" || event.key === "Escape") return { name: "back" };
  if (mode === "help" || mode === "note" || mode === "search" || event.shiftKey) return null;
  if (event.code === "KeyS") return { name: "hold" };
  if (mode === "reject") {
    if (event.code === "Enter" || event.code === "NumpadEnter") return { name: "finish" };
    if (event.code === "KeyN" || event.code === "KeyT") return { name: LETTERS[event.code] };
    const key = digitOf(event) ?? /^Key([A-Z])$/.exec(event.code)?.[1]; // the key that the guideline gives a reason
    return key ? { name: "reason", key } : null;
  }
  if (sign === "search") return { name: "search" };
  if (event.code === "Space") return veiled ? { name: "open" } : null;
  const digit = digitOf(event);
  const choice = choices.find((one) => event.code === `Key${one.key.toUpperCase()}` || (digit && digit === one.key));
  if (choice) return { name: "choose", code: choice.code };
  return LETTERS[event.code] ? { name: LETTERS[event.code] } : null;
}

// When keys that write a sign act: on the whole page, only while the desk has the focus, or never (WCAG 2.1.4).
const KEY_SCOPES = ["page", "desk", "off"];

// The scope that this annotator has chosen in this browser.
function keyScope(desk) {
  const scope = preference(`keys:${desk.data.annotator.uid}`, preference("keys", "page"));
  return KEY_SCOPES.includes(scope) ? scope : "page";
}

// The last choice holds for the one-letter keys of the other pages too (web/static/page.js).
function chooseKeyScope(desk, scope) {
  prefer(`keys:${desk.data.annotator.uid}`, scope);
  prefer("keys", scope);
}

// Whether a key writes a sign, also under an input method. Enter, Escape, Space and arrows do not.
function writesSign(event) {
  return event.key === "Process" || ([...event.key].length === 1 && event.key !== " ");
}

// A dialog of the page around the desk: keys belong to it.
function dialogOpen() {
  return document.querySelector('[data-testid="stDialog"], [role="dialog"][aria-modal="true"]') !== null;
}

class Keys {
  constructor(desk) {
    this.desk = desk;
    this.down = (event) => this.pressed(event);
    this.up = (event) => desk.keymap.meant(event).code === "KeyS" && desk.hold(false);
    this.away = () => desk.hold(false);
    window.addEventListener("keydown", this.down, true);
    window.addEventListener("keyup", this.up, true);
    window.addEventListener("blur", this.away);
  }

  stop() {
    window.removeEventListener("keydown", this.down, true);
    window.removeEventListener("keyup", this.up, true);
    window.removeEventListener("blur", this.away);
  }

  pressed(event) {
    const desk = this.desk;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!desk.root.isConnected || dialogOpen()) return;
    if (desk.keymap.waiting !== null) return this.rebind(event);
    if (inField(event)) return;
    const target = event.composedPath()[0];
    const ours = target instanceof Node && desk.root.contains(target);
    const scope = keyScope(desk);
    if (writesSign(event) && (scope === "off" || (scope === "desk" && !ours))) return;
    const button = target instanceof Element ? target.closest("button, a, summary, [role=button]") : null;
    if (event.code === "Enter" || event.code === "NumpadEnter" || event.code === "Space") {
      if (event.repeat && ours) event.preventDefault(); // a held key must not press a button again and again
      // Enter on a focused button presses that button, except on what Enter would only open or switch once more.
      if (button && (event.code === "Space" || !(ours && button.dataset.enter === "finish"))) return;
    }
    const action = desk.actionOf(event);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat || action.repeats) desk.act(action, event.timeStamp);
  }

  // The list of keys waits for a new one; Tab goes on without.
  rebind(event) {
    const { keymap, view } = this.desk;
    if (/^(Shift|CapsLock|Tab)$/.test(event.key)) {
      if (event.key === "Tab") view.keyTaken(keymap.take({ key: "Escape" }));
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const key = keymap.waiting;
    if (!event.repeat) view.keyTaken(keymap.take(event), key);
  }
}
