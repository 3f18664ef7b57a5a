// Reading the files of a release. A file is a File of the folder that the reader chose; nothing is sent anywhere.

// Numbers keep their digits as written (1.0 stays 1.0), because the hash of the contents covers them. They are strings
// that begin with this mark, which no text can contain by chance.
const DIGITS = `\u0000${Array.from(crypto.getRandomValues(new Uint32Array(4))).join(".")}:`;
const TOKENS = /("(?:[^"\\]|\\.)*")|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function parseExactly(text) {
  return JSON.parse(text.replace(TOKENS, (token, string) => string ?? JSON.stringify(DIGITS + token)));
}

async function* readLines(file) {
  let rest = "";
  for await (const part of file.stream().pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))) {
    const lines = (rest + part).split("\n");
    rest = lines.pop();
    yield* lines;
  }
  if (rest) yield rest;
}

// docs/release.md#files-of-a-release: objects of JSON lines that are about an item or of a kind (not the canary).
async function* readRows(file, parse = JSON.parse) {
  for await (const line of readLines(file)) {
    const row = parse(line);
    if ("item" in row || "kind" in row) yield row;
  }
}

// CSV as in RFC 4180: cells in quotation marks may hold commas, line ends and doubled quotation marks.
async function readTable(file) {
  const text = await file.text();
  const rows = [];
  let row = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    if (row.length > 1 || row[0]) rows.push(row);
    row = [];
  }
  const [names, ...others] = rows;
  return others.map((cells) => Object.fromEntries(names.map((name, place) => [name, cells[place] ?? ""])));
}

// Files by name in the folder of release.json; `isLocked`: texts are encrypted in texts.zip.
async function openRelease(files) {
  const home = [...files.keys()].filter((name) => name.split("/").at(-1) === "release.json")
    .sort((a, b) => a.length - b.length)[0]?.slice(0, -"release.json".length);
  if (home === undefined) return null;
  const own = new Map();
  for (const [name, file] of files) {
    const inside = name.startsWith(home) ? name.slice(home.length) : "";
    if (inside && ![".gitattributes", ".git", ".cache"].includes(inside.split("/")[0])) own.set(inside, file);
  }
  const text = await own.get("release.json").text();
  const facts = JSON.parse(text);
  if (facts.format !== "evenhand-release" || !facts.release?.hash || !own.has("SHA256SUMS")) return null;
  facts.project.seed = parseExactly(text).project.seed.slice(DIGITS.length);
  const release = { files: own, facts, isLocked: own.has("texts.zip") };
  release.leftOut = facts.provenance.consent.left_out.labels;
  return release;
}

// Why one of the files cannot be read: "locked", "left_out", or "" if all can.
function missing(release, ...names) {
  const absent = names.filter((name) => !release.files.has(name));
  if (!absent.length) return "";
  return release.isLocked && absent.some((name) => release.facts.text_in.includes(name)) ? "locked" : "left_out";
}

// Order of code points, as Python sorts; JavaScript compares UTF-16 units, where a surrogate comes before U+E000.
function byCodePoint(a, b) {
  const shorter = Math.min(a.length, b.length);
  for (let place = 0; place < shorter; place++) {
    const [x, y] = [a.charCodeAt(place), b.charCodeAt(place)];
    if (x === y) continue;
    const [high, low] = [x >= 0xd800 && x < 0xe000, y >= 0xd800 && y < 0xe000];
    return high === low ? x - y : high ? 1 : -1;
  }
  return a.length - b.length;
}

function sorted(texts) {
  return [...texts].sort(byCodePoint);
}
