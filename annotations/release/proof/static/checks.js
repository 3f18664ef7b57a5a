// The checks, under the ids of annotations/release/proof/checks.py.

const CLOSE = 1e-9; // numbers that differ by less are equal

function result(check, state, expected = null, found = null, more = {}) {
  return { check, state, expected, found, items: [], reason: "", unchecked: 0, ...more };
}

function unchecked(check, reason, expected = null, number = 0) {
  return result(check, "unchecked", expected, null, { reason, unchecked: number });
}

function same(check, expected, found) {
  const areNumbers = typeof expected === "number" && typeof found === "number";
  const isEqual = areNumbers ? Math.abs(expected - found) <= CLOSE : expected === found;
  return result(check, isEqual ? "equal" : "different", expected, found);
}

function countedResult(check, { items, differ, unchecked: reasons }) {
  const number = sum([...reasons.values()]);
  const [reason] = sorted(reasons.keys()).sort((a, b) => reasons.get(b) - reasons.get(a));
  const state = differ.length ? "different" : items || !number ? "equal" : "unchecked";
  return result(check, state, items, items - differ.length, { items: differ, reason: reason ?? "", unchecked: number });
}

function compared(check, stated, found) {
  const keys = sorted(new Set([...stated.keys(), ...found.keys()]));
  const differ = keys.filter((key) => stated.get(key) !== found.get(key));
  const items = differ.map((item) => ({ item, expected: stated.get(item) ?? "—", found: found.get(item) ?? "—" }));
  return countedResult(check, { items: keys.length, differ: items, unchecked: new Map() });
}

// docs/release.md#verification
async function checkSums(release, progress) {
  const sums = new Map();
  for await (const line of readLines(release.files.get("SHA256SUMS"))) if (line) sums.set(line.slice(66), line.slice(0, 64));
  const reasons = new Map();
  const absent = [...sums.keys()].filter((name) => !release.files.has(name));
  const locked = release.isLocked ? absent.filter((name) => release.facts.text_in.includes(name)) : [];
  const inPackage = [...sums.keys()].filter((name) => name.startsWith("package/"));
  // The package may be left out as a whole, but not in part.
  const isLeftOut = inPackage.every((name) => absent.includes(name));
  const left = isLeftOut ? inPackage.filter((name) => !locked.includes(name)) : [];
  if (locked.length) reasons.set("locked", locked.length);
  if (left.length) reasons.set("left_out", left.length);
  const unread = new Set([...locked, ...left]);
  const found = new Map();
  for (const [name, file] of release.files) {
    if (name === "SHA256SUMS" || name === "texts.zip") continue;
    progress(name);
    found.set(name, hex(await sha256(await file.arrayBuffer())));
  }
  const stated = new Map([...sums].filter(([name]) => !unread.has(name)));
  const whole = compared("files.sums", stated, found);
  return countedResult("files.sums", { items: whole.expected, differ: whole.items, unchecked: reasons });
}

async function checkContent(release) {
  const expected = release.facts.release.hash;
  const parts = ["items", "gold", "labels", "records"].map((name) => `package/${name}.jsonl`);
  const reason = missing(release, ...parts);
  return reason ? unchecked("content.hash", reason, expected) : same("content.hash", expected, await contentHash(release));
}

const COMPARED = ["choice", "reasons", "extraneous", "guideline", "after_reveal"];
const asCell = (value) => {
  if (typeof value === "boolean") return String(Number(value));
  return value === null || value === undefined ? "" : Array.isArray(value) ? value.join(";") : String(value);
};
const labelCells = (row) => COMPARED.map((name) => asCell(row[name])).join(", ");
const byName = (rows) => new Map([...rows].map(([key, row]) => [JSON.parse(key).join(" "), labelCells(row)]));

// docs/release.md#files-of-a-release
async function checkLabelTables(release) {
  const reason = missing(release, "package/labels.jsonl", "package/records.jsonl");
  if (reason) return unchecked("labels.tables", reason);
  const [valid, byOperation] = [new Map(), new Map()];
  for await (const row of readRows(release.files.get("package/labels.jsonl"))) {
    if (row.superseded) continue;
    valid.set(keyOf(row), row);
    byOperation.set(row.op_id, row);
  }
  for await (const row of readRows(release.files.get("package/records.jsonl"))) {
    if (row.kind !== "standing") continue;
    valid.delete(keyOf(row));
    if (byOperation.has(row.latest)) valid.set(keyOf(row), byOperation.get(row.latest));
  }
  const stated = [...valid].filter(([, row]) => row.choice !== null);
  return compared("labels.tables", byName(stated), byName(release.labels.valid));
}

async function checkDecisionTables(release) {
  const reason = missing(release, "package/decisions.jsonl");
  if (reason) return unchecked("decisions.tables", reason);
  const act = (row) => [row.action, row.choice].filter(Boolean).join(", ");
  const [stated, found] = [new Map(), new Map()];
  for await (const row of readRows(release.files.get("package/decisions.jsonl"))) {
    if (row.kind === "settlement") stated.set(row.item, act(row));
  }
  for (const [item, text] of stated) if (text.startsWith("reopen")) stated.delete(item);
  for (const [item, row] of release.gold.cases) if (row.settlement) found.set(item, act(row.settlement));
  return compared("decisions.tables", stated, found);
}

async function checkGoldTables(release) {
  const { gold } = release;
  const reason = missing(release, "package/gold.jsonl");
  if (reason) return unchecked("gold.tables", reason);
  const stated = new Map([...gold.of].map(([item, state]) => [item, inWords(state)]));
  const found = new Map(stated);
  if (!missing(release, "kept.jsonl")) {
    const kept = new Set();
    for await (const row of readRows(release.files.get("kept.jsonl"))) kept.add(row.item);
    for (const [item, [, status]] of gold.of) if ((status === "accepted") !== kept.has(item)) found.delete(item);
    for (const item of kept) if ((gold.of.get(item) ?? PENDING)[1] !== "accepted") found.set(item, "kept.jsonl");
  }
  for (const [item, row] of gold.cases) {
    const text = inWords([row.gold, row.status]);
    if (stated.has(item) || text !== inWords(PENDING)) found.set(item, text);
  }
  return compared("gold.tables", stated, found);
}

const listed = (counts) => sorted(counts.keys()).map((code) => `${code} ${counts.get(code)}`).join(", ") || "0";
function counted(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return listed(counts);
}

async function checkLines(release, check, name, expected) {
  const reason = missing(release, name);
  if (reason) return unchecked(check, reason, expected);
  let number = 0;
  for await (const _ of readRows(release.files.get(name))) number += 1;
  return same(check, expected, number);
}

// A number of all labels needs that all are published.
function ofEverybody(release, id, stated, value) {
  return release.leftOut ? unchecked(id, "consent", stated, release.leftOut) : same(id, stated, value);
}

// docs/quantities.md, docs/release.md#numbers
async function checkCounts(release) {
  const { facts, labels, gold } = release;
  const { released } = facts.provenance.consent;
  const valid = [...labels.valid.values()];
  const people = new Set(valid.map((row) => row.annotator)).size;
  const decisions = [...gold.cases.keys()].map((item) => decisionOn(gold, item)).filter(Boolean);
  const byChoice = listed(new Map(Object.entries(facts.labels.by_choice)));
  return [
    await checkLines(release, "items.imported", "package/items.jsonl", statedOf(release, "items.imported")),
    ...(await checkReviewed(release)),
    await checkLines(release, "items.kept", "kept.jsonl", statedOf(release, "items.kept")),
    ofEverybody(release, "labels.valid", statedOf(release, "labels.valid"), valid.length),
    ofEverybody(release, "annotators.labelled", statedOf(release, "annotators.labelled"), people),
    same("labels.published", released.labels, valid.length),
    same("annotators.published", released.people, people),
    ofEverybody(release, "labels.choices", byChoice, counted(valid.map((row) => row.choice))),
    same("decisions.choices", listed(new Map(Object.entries(facts.adjudication.decided))), counted(decisions)),
  ];
}

async function checkReviewed(release) {
  const { full, unknown } = await fullyLabelled(release);
  const several = [...full].filter((item) => choicesOf(release.labels, item).length > 1);
  const unclear = new Set([...unknown, ...release.labels.unclear]).size;
  return Object.entries({ "items.reviewed": full.size, "items.compared": several.length }).map(([id, value]) => {
    const stated = statedOf(release, id);
    if (unclear && !release.leftOut) return unchecked(id, release.rules.unknown, stated, unclear);
    return ofEverybody(release, id, stated, value);
  });
}

const COUNTED = [
  "items.imported", "items.reviewed", "items.compared", "items.kept", "labels.valid", "annotators.labelled",
  "labels.published", "annotators.published", "labels.choices", "decisions.choices",
];

// The checks by the ids that they report, first what all of them read; a file that cannot be read makes its checks
// "different".
async function checkAll(release, progress) {
  const steps = [
    [[], async () => {
      release.labels = await readLabels(release);
      release.gold = await readGold(release);
      release.rules = await readRules(release);
      return [];
    }],
    [["files.sums"], () => checkSums(release, progress)], [["content.hash"], () => checkContent(release)],
    [["labels.tables"], () => checkLabelTables(release)], [["decisions.tables"], () => checkDecisionTables(release)],
    [["gold.tables"], () => checkGoldTables(release)], [["gold.labels"], () => checkGold(release)],
    [Object.keys(MEASURES).map((name) => `agreement.${name}.labelled`), () => checkAgreement(release)],
    [["agreement.full.reviewed", "agreement.full.released"], () => checkFullAgreement(release)],
    [COUNTED, () => checkCounts(release)],
  ];
  const results = new Map();
  for (const [ids, step] of steps) {
    try {
      for (const one of [await step()].flat()) results.set(one.check, one);
    } catch {
      for (const id of ids) results.set(id, result(id, "different", null, null, { reason: "damaged" }));
    }
  }
  return RULES.checks.filter(({ id, place }) => place === "server" || results.has(id))
    .map(({ id, place }) => (place === "server" ? unchecked(id, "database") : results.get(id)));
}
