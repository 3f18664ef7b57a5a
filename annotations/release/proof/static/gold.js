// Labels, decisions and gold labels, decided again. annotations/release/proof/gold.py does the same on the server.

const PENDING = [null, "pending"];
const STATUS = { has_gold: "accepted", awaiting_labels: "pending", awaiting_adjudication: "pending" };
const keyOf = (row) => JSON.stringify([row.item, row.annotator]);
const inWords = ([gold, status]) => `${gold || "—"}, ${status}`;

// docs/release.md#files-of-a-release: `valid` rows of labels.csv; `blind`: the last choice of each annotator before a
// reveal, by item; `unclear`: items of which no readable file tells which label is blind.
async function readLabels(release) {
  const labels = { valid: new Map(), blind: new Map(), texts: new Map(), unclear: new Set() };
  for (const row of await readTable(release.files.get("labels.csv"))) {
    labels.valid.set(keyOf(row), row);
    if (row.text) labels.texts.set(row.item, row.text);
  }
  const [operations, last] = [new Map(), new Map()];
  for (const row of await readTable(release.files.get("labels_history.csv"))) {
    operations.set(row.op_id, row.choice);
    if (row.superseded === "1") continue;
    const both = last.get(keyOf(row)) ?? ["", ""];
    last.set(keyOf(row), [row.op_id, row.after_reveal === "1" ? both[1] : row.op_id]);
  }
  let standing = null;
  if (!missing(release, "package/records.jsonl")) {
    standing = new Map();
    for await (const row of readRows(release.files.get("package/records.jsonl"))) {
      if (row.kind === "standing") standing.set(keyOf(row), row.blind ?? "");
    }
  }
  for (const key of new Set([...labels.valid.keys(), ...last.keys()])) {
    const choice = blindChoice(labels, key, operations, last.get(key), standing);
    const [item, annotator] = JSON.parse(key);
    if (!choice) continue;
    if (!labels.blind.has(item)) labels.blind.set(item, new Map());
    labels.blind.get(item).set(annotator, choice);
  }
  return labels;
}

function blindChoice(labels, key, operations, last, standing) {
  const row = labels.valid.get(key);
  if (standing?.has(key)) {
    const operation = standing.get(key);
    return row && row.op_id === operation ? row.choice : operations.get(operation) ?? "";
  }
  if (!standing && last && (row?.op_id ?? "") !== (operations.get(last[0]) ? last[0] : "")) {
    labels.unclear.add(JSON.parse(key)[0]);
  }
  if (!row) return "";
  return row.after_reveal === "1" ? operations.get(last?.[1] ?? "") ?? "" : row.choice;
}

// The gold label and status that the files state, by item (absent: pending), and the hard cases.
async function readGold(release) {
  const gold = { of: new Map(), cases: new Map(), missing: "" };
  const state = (row) => [row.gold, STATUS[row.status] ?? row.status];
  for await (const row of readRows(release.files.get("hard_cases.jsonl"))) gold.cases.set(row.item, row);
  if (!missing(release, "package/gold.jsonl")) {
    for await (const row of readRows(release.files.get("package/gold.jsonl"))) gold.of.set(row.item, state(row));
    return gold;
  }
  for (const [item, row] of gold.cases) gold.of.set(item, state(row));
  gold.missing = missing(release, "kept.jsonl");
  if (!gold.missing && release.facts.project.kind === "sentences") {
    for await (const row of readRows(release.files.get("kept.jsonl"))) gold.of.set(row.item, ["accept", "accepted"]);
  } else {
    gold.missing ||= "left_out";
  }
  return gold;
}

function decisionOn(gold, item) {
  const act = gold.cases.get(item)?.settlement;
  return act?.action === "decide" ? act.choice : null;
}

// What is known of single items: pilots and known answers; `pilots` is null where the records cannot be read.
async function readRules(release) {
  const { facts } = release;
  const people = new Map(facts.pilots.map((pilot) => [pilot.number, pilot.people]));
  const rules = { project: facts.project, people, pilots: null, known: new Set(), missing: missing(release, "package/records.jsonl") };
  rules.anyKnown = Boolean(facts.hidden_gold.items);
  rules.unknown = facts.project.doubled !== null ? "sample" : rules.missing || "locked";
  if (rules.missing) return rules;
  rules.pilots = new Map();
  for await (const row of readRows(release.files.get("package/records.jsonl"))) {
    if (row.kind !== "of_item") continue;
    if (row.pilot !== null) rules.pilots.set(row.item, people.get(row.pilot) ?? 0);
    if (row.known !== null) rules.known.add(row.item);
  }
  return rules;
}

// Whether an item is in the random share; both where its text is not published.
async function sharedWays(rules, text) {
  if (rules.project.plan !== "stop") return [false];
  return text === undefined ? [false, true] : [await isShared(rules.project.seed, text, rules.project.share)];
}

// docs/methods.md#gold: how many labels an item wants.
function wantedNow({ per_item, doubled, plan }, before, shared, pilot, known, choices) {
  const full = Math.max(per_item, pilot);
  if (doubled !== null) return Math.max(before, pilot);
  if (plan === "all" || shared || pilot || known) return full;
  return choices.some((choice) => choice !== "accept") ? choices.length : Math.min(full, choices.length + 1);
}

// Every number that the item may want, since the files do not tell all of it.
async function wantedWays(rules, item, text, choices) {
  const { project } = rules;
  const found = new Set();
  const pilots = rules.pilots ? [rules.pilots.get(item) ?? 0] : [0, ...rules.people.values()];
  const known = rules.pilots ? [rules.known.has(item)] : rules.anyKnown ? [false, true] : [false];
  for (const shared of await sharedWays(rules, text)) {
    for (const before of project.doubled !== null ? [1, project.per_item] : [0]) {
      for (const pilot of pilots) {
        for (const answer of known) found.add(wantedNow(project, before, shared, pilot, answer, choices));
      }
    }
  }
  return found;
}

// docs/methods.md#gold: the gold label and status of an item from its blind choices and a decision.
function decideGold(project, choices, wanted, decision) {
  const outcome = fromLabels(project, choices, wanted);
  if (decision && (decision !== "accept" || outcome[1] !== "rejected" || project.rescue)) {
    return [decision, decision === "reject" ? "rejected" : "accepted"];
  }
  return outcome;
}

function fromLabels(project, choices, wanted) {
  if (!choices.length || choices.length < wanted) return PENDING;
  const counted = new Map();
  for (const choice of choices) counted.set(choice, (counted.get(choice) ?? 0) + 1);
  const [first, most] = [...counted].reduce((a, b) => (b[1] > a[1] ? b : a));
  if (counted.size === 1 || (project.gold === "majority" && 2 * most > choices.length)) {
    return [first, first === "reject" ? "rejected" : "accepted"];
  }
  const isBinary = [...counted.keys()].every((choice) => choice === "accept" || choice === "reject");
  return project.gold === "unanimous" && isBinary ? ["reject", "rejected"] : PENDING;
}

const choicesOf = (labels, item) => {
  const own = labels.blind.get(item);
  return own ? sorted(own.keys()).map((annotator) => own.get(annotator)) : [];
};

// Compares the stated gold label and status of every item with those that follow.
async function checkGold(release) {
  const { gold, labels, rules } = release;
  const found = { items: 0, differ: [], unchecked: new Map() };
  const leave = (reason, number = 1) => found.unchecked.set(reason, (found.unchecked.get(reason) ?? 0) + number);
  for (const item of sorted(new Set([...labels.blind.keys(), ...gold.of.keys(), ...gold.cases.keys()]))) {
    if (!gold.of.has(item) && gold.missing) {
      leave(gold.missing);
      continue;
    }
    const [stated, choices, ways] = [inWords(gold.of.get(item) ?? PENDING), choicesOf(labels, item), new Set()];
    for (const wanted of await wantedWays(rules, item, labels.texts.get(item), choices)) {
      ways.add(inWords(decideGold(rules.project, choices, wanted, decisionOn(gold, item))));
    }
    const lacks = release.leftOut && gold.cases.get(item)?.left_out;
    if (ways.size === 1 && ways.has(stated) && !lacks) found.items += 1;
    else if (mayBeLeftOut(release, item, choices)) leave("consent");
    else if (labels.unclear.has(item) || (ways.size > 1 && ways.has(stated))) leave(rules.unknown);
    else {
      found.items += 1;
      found.differ.push({ item, expected: stated, found: sorted(ways).join(" / ") });
    }
  }
  // Which gold labels came without their labels is not stated, only how many.
  const brought = (release.facts.provenance.gold_labels ?? []).reduce((sum, each) => sum + each.labels, 0);
  if (found.differ.length && found.differ.length <= brought) {
    found.items -= found.differ.length;
    leave("imported", found.differ.length);
    found.differ = [];
  }
  return countedResult("gold.labels", found);
}

// Whether labels that were not published explain the stated gold label. All labels of an item outside the hard cases
// are the same, published or not.
function mayBeLeftOut(release, item, choices) {
  if (!release.leftOut) return false;
  const hard = release.gold.cases.get(item);
  if (hard) return Boolean(hard.left_out);
  const [gold, status] = release.gold.of.get(item) ?? PENDING;
  return (gold !== null || status !== "pending") && choices.every((choice) => choice === gold);
}

// Which items have all their labels, and of which this is unknown.
async function fullyLabelled(release) {
  const [full, unknown] = [new Set(), new Set()];
  for (const item of release.labels.blind.keys()) {
    const choices = choicesOf(release.labels, item);
    const wanted = [...(await wantedWays(release.rules, item, release.labels.texts.get(item), choices))];
    const ways = new Set(wanted.map((number) => choices.length >= number));
    if (ways.size > 1) unknown.add(item);
    else if (ways.has(true)) full.add(item);
  }
  return { full, unknown };
}
