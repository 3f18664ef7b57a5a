// Beside the card: the guideline, the last ten decisions, the balance of one's own labels.

const SHOWN = 10;
const SIGNS = { accept: "✓", reject: "✕", skip: "↷" };

function number(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

function paceText(progress, labelled, shown, t) {
  if (!shown) return t("Pace");
  if (!progress?.pace) return "";
  const pace = t("{n} per hour", { n: number(Math.round(progress.pace)) });
  const left = Math.max(0, progress.total - labelled) / progress.pace;
  if (!left) return pace;
  const time =
    left >= 1 ? t("about {n} h left", { n: Math.round(left) }) : t("about {n} min left", { n: Math.ceil(left * 60) });
  return `${pace} · ${time}`;
}

// Markdown was read on the server into blocks; here they become elements, their text never HTML.
function drawBlocks(place, blocks, desk) {
  const words = (text) => inLanguages(text, desk);
  const inline = (runs) => runs.flatMap(([text, strong]) => (strong ? [element("strong", {}, ...words(text))] : words(text)));
  const item = (runs, key) => element("li", { class: key && "keyed" }, ...(key ? [drawnKey(desk, key), " "] : []), ...inline(runs));
  const made = blocks.map((block) => {
    if (block.kind === "list") {
      const list = element(block.ordered ? "ol" : "ul", { start: block.ordered ? block.start : null, dir: "auto" });
      list.append(...block.items.map((runs, place) => item(runs, block.keys?.[place])));
      return list;
    }
    return element(block.kind === "head" ? "h2" : "p", { dir: "auto" }, ...inline(block.runs));
  });
  place.replaceChildren(...made);
}

class Side {
  constructor(desk, view) {
    this.desk = desk;
    this.part = view.part;
    this.t = view.t;
    this.part.past.onkeydown = (event) => this.walk(event);
    // On a narrow screen the sentence comes first; the criteria open with a touch. A window may become wider or
    // narrower: its width counts until somebody opens or closes them.
    const folds = [this.part.guidelineFold, this.part.balanceFold];
    const fold = () => {
      const width = desk.root.clientWidth;
      for (const one of folds) one.open = width > 760 || width === 0;
    };
    const watch = new ResizeObserver(fold);
    for (const one of folds) one.firstElementChild.addEventListener("click", () => watch.disconnect());
    fold();
    watch.observe(desk.root);
  }

  words() {
    const { part, t, desk } = this;
    part.guidelineTitle.textContent = t("Guideline v{version}", { version: desk.data.guideline.version });
    part.balanceTitle.textContent = t("My progress by keyword pair");
    // Both scroll: without a mouse they are reached by Tab, and a screen reader says what they are.
    for (const name of ["guideline", "balance"]) part[name].setAttribute("aria-label", part[`${name}Title`].textContent);
    drawBlocks(part.guideline.firstElementChild, desk.data.guideline.blocks, desk);
    this.drawn = null;
    this.balanced = null;
  }

  draw() {
    const { desk, part, t } = this;
    const searching = desk.mode === "search";
    const found = searching && desk.found ? desk.found : null;
    const list = found ?? desk.queue.past.slice(0, SHOWN);
    part.pastTitle.textContent = found ? t("Found: {n}", { n: found.length }) : t("My last ten (click to change)");
    const looks = list
      .map((one) => `${one.op}${desk.queue.outbox.ops.has(one.op)}${desk.editing?.op === one.op}`)
      .join();
    if (this.drawn !== looks) {
      this.drawn = looks;
      const focused = desk.root.getRootNode().activeElement;
      const held = part.past.contains(focused) ? focused.dataset.item : null;
      part.past.replaceChildren(...list.map((one) => this.row(one)));
      // An answer of the server draws the list anew; who walks in it stays at the same decision.
      if (held) [...part.past.children].find((one) => one.dataset.item === held)?.focus();
      if (!list.length)
        part.past.append(element("p", { class: "soft", text: found ? t("Nothing found.") : t("No decisions yet.") }));
    }
    if (desk.queue.progress && this.balanced !== desk.queue.progress) {
      this.balance(desk.queue.progress);
      const width = coverWidth(desk.queue.progress.cells.map((cell) => cell.pair));
      desk.root.style.setProperty("--cover", `${width.toFixed(2)}em`);
    }
  }

  row(decision) {
    const { desk, t } = this;
    const { item, choice } = decision;
    const keys = (decision.reasons ?? []).map(
      (code) => [...desk.data.reasons, ...(desk.data.scheme?.points ?? [])].find((one) => one.code === code)?.key.toUpperCase() ?? code,
    ).map((key) => desk.keymap.shown(key));
    if (decision.extraneous) keys.unshift(desk.keymap.shown("F"));
    if (decision.tags?.length) keys.push(`#${decision.tags.length}`);
    const { key } = desk.data.choices.find((one) => one.code === choice) ?? {};
    const sign = SIGNS[choice] ?? (key ? desk.keymap.shown(key.toUpperCase()) : "•");
    const says = t("Change: {choice}.", { choice: desk.labelOf(choice) });
    const row = element("button", { type: "button", class: `row-${choice}`, "data-act": "edit", "data-item": item.id });
    // The name is what is in it: first what the sign means, then what is seen.
    row.append(
      element("span", { class: "unseen" }, ...inLanguages(`${says} `, desk)),
      element("b", { text: sign, "aria-hidden": choice in SIGNS }),
      lineOf(item, desk),
      element("i", { text: keys.join(" ") }),
    );
    if (desk.editing?.op === decision.op) row.setAttribute("aria-current", "true");
    row.title = [...hashed(decision.tags), decision.note].filter(Boolean).join(" ");
    return row;
  }

  walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const rows = [...this.part.past.querySelectorAll("button")];
    const place = rows.indexOf(event.target.closest("button"));
    rows[Math.min(rows.length - 1, Math.max(0, place + step))]?.focus();
  }

  // From the middle outwards, as on a balance: male word to the left, female word to the right.
  balance(progress) {
    this.balanced = progress;
    const { part, t } = this;
    const pairs = new Map();
    for (const cell of progress.cells) {
      if (!pairs.has(cell.pair)) pairs.set(cell.pair, {});
      pairs.get(cell.pair)[cell.side || "male"] = cell;
    }
    const most = Math.max(1, ...progress.cells.map((cell) => cell.labelled));
    const rows = [...pairs].map(([pair, sides]) => balanceRow(pair, sides, most, this.desk));
    part.balance.replaceChildren(...rows);
    if (rows.length) part.balance.append(element("p", { class: "legend" }, t("dark: accepted, light: labelled")));
    if (rows.length && this.desk.masked)
      part.balance.append(element("p", { class: "legend" }, t("Your last {n} labels are not counted here, because their words are still covered.", { n: UNDOABLE })));
  }
}

// Own decisions that hold what was typed, in the text or the note.
async function searchPast(desk, text) {
  const asked = text.trim();
  desk.asked = asked;
  if (!asked) desk.found = null;
  else {
    const waiting = new Set(desk.queue.outbox.ops.keys());
    const reply = await desk.request("history", { limit: 50, search: asked });
    if (desk.asked !== asked || desk.mode !== "search") return; // another search was faster
    // What is still on its way is only known here.
    const fits = (one) => [one.item.text, one.item.second, one.note, ...(one.tags ?? [])].some((text) => text?.includes(asked));
    const here = desk.queue.past.filter((one) => fits(one) && (!reply || waiting.has(one.op)));
    const ids = new Set(here.map((one) => one.item.id));
    desk.found = [...here, ...(reply?.history ?? []).filter((one) => !ids.has(one.item.id))];
  }
  desk.draw();
}

// The counts of a pair as two bars; a screen reader reads them as text, the pair in its own language.
function balanceRow(pair, sides, most, desk) {
  const t = (text, values) => desk.t(text, values);
  const lang = foreignLanguage(pair, desk.data.language);
  const name = () => element("bdi", { class: "name", lang, text: pair.replace("/", " / ") });
  const count = (side) => element("span", { class: `count ${side}`, text: number(sides[side]?.labelled ?? 0) });
  const drawn = element("div", { class: "pair", "aria-hidden": "true" }, name(), count("male"));
  const told = [];
  for (const side of ["male", "female"]) {
    const cell = sides[side] ?? { labelled: 0, accepted: 0, quota: null };
    const share = (amount) => `width:${Math.min(100, (amount / (cell.quota || most)) * 100).toFixed(1)}%`;
    const part = (kind) => element("u", { class: kind, style: share(cell[kind]) });
    drawn.append(element("i", { class: side }, part("labelled"), part("accepted")));
    const says = cell.quota
      ? "{accepted} of {quota} accepted, {labelled} labelled"
      : "{accepted} accepted, {labelled} labelled";
    told.push(`${sideWord(side, t)}: ${t(says, cell)}`);
  }
  drawn.append(count("female"));
  return element("div", { title: told.join("\n") }, element("p", { class: "unseen" }, name(), `. ${told.join("; ")}`), drawn);
}
