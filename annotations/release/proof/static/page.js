// The page: the reader chooses or drops a folder; every check becomes a row. All texts are set with textContent.

const MOST_SHOWN = 50; // differences of one check
const byId = (id) => document.getElementById(id);

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

// A text in both languages; the switch shows one of them. {names} are filled in.
function say(texts, values = {}) {
  return Object.entries(texts).map(([language, text]) => {
    const made = element("span", language, text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? ""));
    made.lang = language;
    return made;
  });
}

const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
const shown = (value) => {
  if (value === null) return "—";
  if (typeof value !== "number") return value;
  return Number.isInteger(value) ? thousands(value) : value.toFixed(6);
};

function row(one) {
  const { name, population, document: section } = RULES.checks.find(({ id }) => id === one.check);
  const head = element("div", "head", element("b", "mark"), element("span", "name", ...say(name)));
  head.append(element("span", "state", ...say(RULES.texts[one.state])));
  const made = element("li", `check ${one.state}`, head, element("code", "", `${one.check} · docs/${section}`));
  made.dataset.check = one.check;
  made.dataset.state = one.state;
  if (population.en) made.append(element("p", "soft", ...say(population)));
  if (one.state === "different") made.append(values(one));
  else if (one.found !== null) made.append(element("p", "soft value", shown(one.found)));
  if (one.reason) {
    const number = one.unchecked ? `${thousands(one.unchecked)} · ` : "";
    made.append(element("p", "soft", ...say(RULES.texts.because), number, ...say(RULES.reasons[one.reason])));
  }
  if (one.items.length) made.append(differences(one.items));
  return made;
}

function values(one) {
  const list = element("dl", "values");
  for (const key of ["expected", "found"]) {
    list.append(element("dt", "", ...say(RULES.texts[key])), element("dd", "", shown(one[key])));
  }
  return list;
}

function differences(items) {
  const list = element("table", "items");
  list.append(element("tr", "", ...["which", "expected", "found"].map((key) => element("th", "", ...say(RULES.texts[key])))));
  for (const { item, expected, found } of items.slice(0, MOST_SHOWN)) {
    list.append(element("tr", "", ...[item, expected, found].map((text) => element("td", "", text))));
  }
  const made = element("details", "", element("summary", "", ...say(RULES.texts.differences, { number: thousands(items.length) })), list);
  made.open = true;
  return made;
}

function report(release, results) {
  const number = (state) => results.filter((one) => one.state === state).length;
  const [different, equal, left] = ["different", "equal", "unchecked"].map(number);
  const { project, release: about } = release.facts;
  const verdict = different ? "fails" : "holds";
  byId("verdict").replaceChildren(
    element("h2", verdict, ...say(RULES.texts[verdict], { equal, different, left })),
    element("p", "soft", `${project.name} ${about.version} · ${about.created.slice(0, 10)} · ${about.hash}`),
  );
  byId("checks").replaceChildren(...results.map(row));
  document.body.dataset.done = JSON.stringify(results);
}

async function prove(files) {
  byId("checks").replaceChildren();
  delete document.body.dataset.done;
  const progress = (name) => byId("verdict").replaceChildren(element("p", "soft", ...say(RULES.texts.working, { name })));
  progress("");
  try {
    if (!crypto.subtle) throw new Error("crypto.subtle");
    const release = await openRelease(files);
    if (release) report(release, await checkAll(release, progress));
    else byId("verdict").replaceChildren(element("h2", "fails", ...say(RULES.texts.no_release)));
  } catch (error) {
    const text = crypto.subtle ? RULES.texts.broken : RULES.texts.no_crypto;
    byId("verdict").replaceChildren(element("h2", "fails", ...say(text)), element("p", "soft", String(error)));
  }
}

if (navigator.language.startsWith("zh")) byId("zh").checked = true;
byId("folder").addEventListener("change", ({ target }) => {
  prove(new Map(Array.from(target.files, (file) => [file.webkitRelativePath || file.name, file])));
});
// The field takes a dropped folder itself: pages of file:// cannot read one. Elsewhere a drop would open its files.
for (const type of ["dragover", "drop"]) {
  document.addEventListener(type, (event) => {
    if (event.target !== byId("folder")) event.preventDefault();
  });
}
