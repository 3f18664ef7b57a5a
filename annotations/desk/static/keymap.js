// Keys that an annotator has moved (WCAG 2.1.4): of each key that a scheme or the desk gives, the one to press instead.
// Kept in this browser for each annotator. Where a newer scheme uses a key itself, the scheme comes first.

const MOVABLE = /^[A-Z0-9?/]$/;

// The letter, digit or sign of a key, or null; letters and digits by their place.
function keyOf(event) {
  const sign = signOf(event);
  if (sign) return sign === "help" ? "?" : "/";
  return /^(?:Key|Digit|Numpad)([A-Z0-9])$/.exec(event.code)?.[1] ?? null;
}

// The event as if *key* had been pressed, with the real one as `typed`; null: a key without a meaning.
function asIf(event, key) {
  const code = key === null ? "" : /[?/]/.test(key) ? "Slash" : placeOf(key);
  return { typed: event, code, key: key ?? "", shiftKey: event.shiftKey };
}

class Keymap {
  constructor(desk) {
    this.desk = desk;
    this.name = `keymap:${desk.data.annotator.uid}`;
    this.stored = preference(this.name, {});
    this.waiting = null; // the key for which another one is awaited
    this.update();
  }

  // After new data: which of the moved keys hold here.
  update() {
    const keys = keyRows(this.desk).map(([key]) => key);
    const stays = (key) => !(key in this.stored);
    const free = ([key, to]) => MOVABLE.test(to) && !keys.some((one) => one === to && one !== key && stays(one));
    this.moved = new Map(Object.entries(this.stored).filter(free));
  }

  // What to press for a key, for buttons and lists.
  shown(key) {
    return this.moved.get(key) ?? key;
  }

  // The event in terms of the scheme's keys.
  meant(event) {
    if (!this.moved.size) return event;
    const pressed = keyOf(event);
    if (pressed === null) return event;
    for (const [key, to] of this.moved) if (to === pressed) return asIf(event, key);
    return this.moved.has(pressed) ? asIf(event, null) : event;
  }

  // What a key does already, or null when it is free for *key*.
  takenBy(to, key) {
    return keyRows(this.desk).find(([one]) => one !== key && this.shown(one) === to)?.[1] ?? null;
  }

  move(key, to) {
    if (key === to) delete this.stored[key];
    else this.stored[key] = to;
    prefer(this.name, this.stored);
    this.update();
  }

  reset() {
    this.stored = {};
    prefer(this.name, this.stored);
    this.update();
  }

  // A key pressed while another one is awaited; returns the sentence that says what came of it.
  take(event) {
    const key = this.waiting;
    const t = (text, values) => this.desk.t(text, values);
    if (event.key === "Escape") {
      this.waiting = null;
      return t("The key stays as it was.");
    }
    const to = keyOf(event);
    if (to === null || to === "?" || to === "/") return t("Press a letter or a digit, or Esc to leave the key as it is.");
    this.waiting = null;
    const what = this.takenBy(to, key);
    if (what !== null) return t("{key} is already in use: {what}. The key stays as it was.", { key: to, what });
    this.move(key, to);
    return t("The key is now {key}.", { key: to });
  }
}

// Each key of this desk once, with what it does; keys without a letter, digit or sign have their own names.
function keyRows(desk) {
  const rows = new Map();
  for (const [key, what] of desk.data.project.kind === "generations" ? generationHelp(desk) : helpRows(desk)) {
    if (key) rows.set(key, rows.has(key) ? `${rows.get(key)}; ${what}` : what);
  }
  return [...rows];
}

// A key on the page: the one to press.
function drawnKey(desk, key) {
  return element("kbd", { text: desk.keymap.shown(key) });
}
