// Hashes: of files, of the contents, and the draw of the random share.

const UTF8 = new TextEncoder();
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

async function sha256Of(text) {
  return sha256(UTF8.encode(text));
}

// docs/release.md#the-hash-of-the-contents: JSON in UTF-8 with sorted keys, no blanks, no escapes for other scripts.
function canonical(value) {
  if (typeof value === "string") return value.startsWith(DIGITS) ? value.slice(DIGITS.length) : JSON.stringify(value);
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  return `{${sorted(Object.keys(value)).map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

// Step 2 there: an operation as text.
function said(row) {
  if ((row.choice ?? null) === null) return "";
  const isPlain = !["reasons", "tags", "spans"].some((key) => row[key]?.length) && !row.note;
  const listed = (key) => sorted(row[key] ?? []);
  return canonical([
    row.choice, listed("reasons"), row.extraneous ?? null, isPlain ? [] : row.spans ?? null, listed("tags"),
    isPlain ? "" : row.note ?? null, row.form_shown ?? "original", row.guideline ?? null, row.after_reveal ?? null,
  ]);
}

// Step 3: the valid and the last blind label of each annotator, by item.
async function saidByItem(release) {
  const corrected = new Map();
  for await (const row of readRows(release.files.get("package/records.jsonl"), parseExactly)) {
    if (row.kind === "standing") corrected.set(JSON.stringify([row.item, row.annotator]), row);
  }
  const operations = new Map();
  const items = new Map();
  for await (const row of readRows(release.files.get("package/labels.jsonl"), parseExactly)) {
    const text = said(row);
    if (corrected.has(JSON.stringify([row.item, row.annotator]))) operations.set(row.op_id, text);
    if (!items.has(row.item)) items.set(row.item, new Map());
    const both = items.get(row.item).get(row.annotator) ?? ["", ""];
    items.get(row.item).set(row.annotator, both);
    if (row.superseded) continue;
    both[0] = text;
    if (!row.after_reveal) both[1] = text;
  }
  for (const row of corrected.values()) {
    if (!items.has(row.item)) items.set(row.item, new Map());
    const both = [row.latest, row.blind].map((operation) => operations.get(operation ?? "") ?? "");
    items.get(row.item).set(row.annotator, both);
  }
  return items;
}

// Steps 1, 4 and 5.
async function contentHash(release) {
  const hashes = new Map();
  for await (const row of readRows(release.files.get("package/items.jsonl"), parseExactly)) {
    const { item, file, line, status, ...content } = row;
    hashes.set(item, hex(await sha256Of(canonical(content))));
  }
  const gold = new Map();
  for await (const row of readRows(release.files.get("package/gold.jsonl"), parseExactly)) {
    gold.set(row.item, [row.status === "has_gold" ? "accepted" : row.status, row.gold]);
  }
  const labels = await saidByItem(release);
  const entries = [];
  for (const [item, hash] of hashes) {
    const own = [...(labels.get(item) ?? [])].filter(([, both]) => both[0] || both[1]);
    if (!own.length && !gold.has(item)) continue;
    own.sort(([a], [b]) => byCodePoint(a, b));
    const texts = own.map(([annotator, both]) => [annotator, both.join("\n")]);
    entries.push(await sha256Of(canonical([hash, ...(gold.get(item) ?? ["pending", null]), texts])));
  }
  const head = UTF8.encode("evenhand-content-1\n");
  entries.sort((a, b) => (hex(a) < hex(b) ? -1 : 1));
  const whole = new Uint8Array(head.length + 32 * entries.length);
  whole.set(head);
  entries.forEach((entry, place) => whole.set(entry, head.length + 32 * place));
  return hex(await sha256(whole));
}

// BLAKE2b (RFC 7693) with a key of at most 64 bytes, of a text of at most 128 bytes, 8 bytes long.
const BLAKE_START = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const BLAKE_ORDER = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
];

function blakeRounds(state, words, count, isLast) {
  const v = [...state, ...BLAKE_START];
  v[12] ^= BigInt(count);
  if (isLast) v[14] = ~v[14] & (2n ** 64n - 1n);
  const turn = (x, by) => ((x >> by) | (x << (64n - by))) & (2n ** 64n - 1n);
  const mix = (a, b, c, d, x, y) => {
    for (const [word, first, second] of [[x, 32n, 24n], [y, 16n, 63n]]) {
      v[a] = BigInt.asUintN(64, v[a] + v[b] + word);
      v[d] = turn(v[d] ^ v[a], first);
      v[c] = BigInt.asUintN(64, v[c] + v[d]);
      v[b] = turn(v[b] ^ v[c], second);
    }
  };
  for (let round = 0; round < 12; round++) {
    const m = Array.from(BLAKE_ORDER[round % 10], (place) => words[parseInt(place, 16)]);
    for (let i = 0; i < 4; i++) mix(i, 4 + i, 8 + i, 12 + i, m[2 * i], m[2 * i + 1]);
    for (let i = 0; i < 4; i++) mix(i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4), m[8 + 2 * i], m[9 + 2 * i]);
  }
  return state.map((word, place) => word ^ v[place] ^ v[place + 8]);
}

function blakeWords(bytes) {
  const block = new DataView(new ArrayBuffer(128));
  bytes.forEach((byte, place) => block.setUint8(place, byte));
  return Array.from({ length: 16 }, (_, place) => block.getBigUint64(8 * place, true));
}

// docs/methods.md#gold: whether a sentence is in the random share that everybody labels under the plan `stop`.
async function isShared(seed, text, share) {
  const identity = (await sha256Of(text)).slice(0, 16);
  const key = UTF8.encode(`${seed}|shared`);
  const state = [...BLAKE_START];
  state[0] ^= 0x01010000n ^ (BigInt(key.length) << 8n) ^ 8n;
  const last = blakeRounds(blakeRounds(state, blakeWords(key), 128, false), blakeWords(identity), 128 + identity.length, true);
  const digest = new DataView(new ArrayBuffer(8));
  digest.setBigUint64(0, last[0], true);
  return digest.getBigUint64(0) < share * 2 ** 64;
}
