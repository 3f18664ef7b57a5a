// Measures of agreement (docs/methods.md#agreement). An item is the number of annotators who chose each category.

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const square = (number) => number * number;
const paired = (items) => items.filter((counts) => sum(counts) >= 2);
// Agreeing pairs of labels / pairs of labels of one item; 0 without a pair.
const pairs = (counts) => {
  const all = sum(counts);
  return all < 2 ? 0 : sum(counts.map((count) => count * (count - 1))) / (all * (all - 1));
};
const chosen = (items) => items[0].map((_, place) => sum(items.map((counts) => counts[place])));
const ratio = (over, under) => (under === 0 ? null : over / under);

// Full agreement: the share of items with at least two blind labels whose choices are all the same.
function percent(items) {
  const compared = paired(items);
  return ratio(compared.filter((counts) => Math.max(...counts) === sum(counts)).length, compared.length);
}

// Pairwise agreement: agreeing pairs / pairs, averaged over items.
function pairwisePercent(items) {
  const compared = paired(items);
  return ratio(sum(compared.map(pairs)), compared.length);
}

// Fleiss' kappa (1971): of the items with the most common number of labels, the larger of two equally common numbers.
function fleissKappa(items) {
  const sizes = new Map();
  for (const counts of paired(items)) sizes.set(sum(counts), (sizes.get(sum(counts)) ?? 0) + 1);
  if (!sizes.size) return null;
  const [size] = [...sizes].reduce((a, b) => (b[1] > a[1] || (b[1] === a[1] && b[0] > a[0]) ? b : a));
  const compared = items.filter((counts) => sum(counts) === size);
  const all = chosen(compared);
  const chance = sum(all.map(square)) / square(sum(all));
  return all.filter(Boolean).length < 2 ? null : ratio(sum(compared.map(pairs)) / compared.length - chance, 1 - chance);
}

// Krippendorff's alpha, nominal: 1 - observed / expected disagreement, from the coincidence matrix.
function krippendorffAlpha(items) {
  const compared = paired(items);
  if (!compared.length) return null;
  const all = chosen(compared);
  const total = sum(all);
  const same = sum(compared.map((counts) => sum(counts.map((count) => count * (count - 1))) / (sum(counts) - 1)));
  const left = ratio((total - same) * (total - 1), square(total) - sum(all.map(square)));
  return left === null ? null : 1 - left;
}

// Gwet's AC1 (2008): chance = sum of q(1 - q) / (categories - 1), over all categories of the scheme.
function gwetAc1(items) {
  const some = items.filter((counts) => sum(counts) > 0);
  const compared = paired(some);
  if (!compared.length || some[0].length < 2) return null;
  const observed = sum(compared.map(pairs)) / compared.length;
  const shares = some[0].map((_, place) => sum(some.map((counts) => counts[place] / sum(counts))) / some.length);
  const chance = sum(shares.map((share) => share * (1 - share))) / (shares.length - 1);
  return ratio(observed - chance, 1 - chance);
}

// The measures of the catalogue of quantities, after the number of items and of labels.
const MEASURES = {
  items: (items) => items.length, labels: (items) => sum(items.map(sum)), full: percent, pairwise: pairwisePercent,
  fleiss: fleissKappa, alpha: krippendorffAlpha, ac1: gwetAc1,
};

function tally(release, items) {
  const codes = new Set();
  for (const item of items) for (const choice of choicesOf(release.labels, item)) codes.add(choice);
  const columns = Math.max(release.facts.agreement.categories.scheme, codes.size);
  const place = new Map([...codes].map((code, number) => [code, number]));
  return items.map((item) => {
    const counts = new Array(columns).fill(0);
    for (const choice of choicesOf(release.labels, item)) counts[place.get(choice)] += 1;
    return counts;
  });
}

// Why agreement cannot be computed from the published labels; "" if it can.
function whyNoAgreement(release) {
  const { agreement } = release.facts;
  if (!agreement.signature.endsWith(`|v${RULES.method}`)) return "method";
  if (release.leftOut) return "consent";
  if (agreement.ended_at_reject || agreement.imported_ended_at_reject) return "ended";
  return release.labels.unclear.size ? release.rules.unknown : "";
}

// The items that agreement is over, and whether some of them are not known.
async function population(release, { full, unknown }) {
  const { labels, rules, facts } = release;
  if (facts.agreement.on !== "share") return [[...labels.blind.keys()], false];
  const items = [];
  let isUnsure = false;
  for (const item of labels.blind.keys()) {
    const ways = await sharedWays(rules, labels.texts.get(item));
    isUnsure ||= ways.length > 1 || (unknown.has(item) && ways[0]);
    if (full.has(item) && ways.length === 1 && ways[0]) items.push(item);
  }
  return [items, isUnsure];
}

const statedOf = (release, id) => release.facts.quantities[id].value ?? null;
const scopeOf = (release) => (release.facts.agreement.on === "share" ? "share" : "labelled");

async function checkAgreement(release) {
  const ids = Object.keys(MEASURES).map((name) => `agreement.${name}.${scopeOf(release)}`);
  let reason = whyNoAgreement(release);
  let items = [];
  if (!reason) {
    const [usual, isUnsure] = await population(release, await fullyLabelled(release));
    reason = isUnsure ? release.rules.unknown : "";
    items = tally(release, usual);
  }
  const measures = Object.values(MEASURES);
  return ids.map((id, place) => {
    const stated = statedOf(release, id);
    return reason ? unchecked(id, reason, stated) : same(id, stated, measures[place](items));
  });
}

// Full agreement of the reviewed and of the released items, where the release states it.
async function checkFullAgreement(release) {
  const { labels, gold, rules } = release;
  const complete = await fullyLabelled(release);
  const kept = [...labels.blind.keys()].filter((item) => (gold.of.get(item) ?? PENDING)[1] === "accepted");
  const populations = [
    ["reviewed", [...complete.full], complete.unknown.size ? rules.unknown : ""], ["released", kept, gold.missing],
  ];
  const results = [];
  for (const [name, items, missingOfItems] of populations) {
    const id = `agreement.full.${name}`;
    const stated = release.facts.quantities[id]?.value ?? null;
    if (stated === null) continue;
    const reason = whyNoAgreement(release) || missingOfItems;
    results.push(reason ? unchecked(id, reason, stated) : same(id, stated, percent(tally(release, items))));
  }
  return results;
}
