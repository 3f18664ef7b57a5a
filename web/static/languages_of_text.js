/* Gives stored text on the pages its language and direction: what the pages say themselves is in their language, and
   HTML of a project says its language itself. The rest is told by its writing (annotations/desk/static/languages.js).
   Inside HTML of our own the words of another language are wrapped; Streamlit's elements get the language of most of
   their text, because React keeps their nodes. */
if (!document.evenhandLanguages) {
  document.evenhandLanguages = true;
  const ownLanguage = () => (document.documentElement.lang.startsWith("zh") ? "zh" : "en");
  const LANGUAGE_SET = new WeakSet(); // elements whose language was set here
  const NO_TEXT = "script, style, svg, canvas, noscript, code, pre";
  const FIELD = 'input:not([type]), input[type="text"], input[type="search"], textarea';

  const setLanguage = (element, tag) => {
    if (tag) {
      if (element.lang !== tag) element.lang = tag;
      LANGUAGE_SET.add(element);
    } else if (LANGUAGE_SET.delete(element)) element.removeAttribute("lang");
  };

  const wrapParts = (node) => {
    const parts = inParts(node.data, ownLanguage());
    if (!parts.some(([, tag]) => tag)) return;
    const made = parts.map(([text, tag]) => {
      if (!tag) return text;
      const span = document.createElement("span");
      span.lang = tag;
      span.textContent = text;
      return span;
    });
    node.replaceWith(...made);
  };

  const readText = (node) => {
    const element = node.parentElement;
    if (!element || element.closest(NO_TEXT)) return;
    const told = element.closest("[lang]");
    if (told && told !== document.documentElement && !LANGUAGE_SET.has(told)) return;
    if (element.closest(".stHtml")) return wrapParts(node);
    const text = [...element.childNodes].filter((one) => one.nodeType === 3).map((one) => one.data).join("");
    setLanguage(element, foreignLanguage(text, ownLanguage()));
  };

  const readField = (field) => {
    field.dir = "auto";
    setLanguage(field, foreignLanguage(field.value || field.placeholder, ownLanguage()));
  };

  const readLanguages = (root) => {
    if (root.nodeType === 3) return readText(root);
    if (root.nodeType !== 1 || root.closest(NO_TEXT)) return;
    if (root.matches(FIELD)) readField(root);
    for (const field of root.querySelectorAll(FIELD)) readField(field);
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walk.nextNode()) if (walk.currentNode.data.trim()) nodes.push(walk.currentNode);
    nodes.forEach(readText);
  };

  const changed = new Set();
  let due = false;
  const readAll = () => {
    due = false;
    const roots = [...changed];
    changed.clear();
    for (const root of roots) if (root.isConnected) readLanguages(root);
  };
  const later = (root) => {
    changed.add(root);
    if (!due) { due = true; setTimeout(readAll, 100); } // once for many changes, and after what people wait for
  };
  new MutationObserver((records) => {
    for (const { type, target, addedNodes } of records) {
      if (type === "characterData") later(target);
      else for (const node of addedNodes) later(node);
    }
  }).observe(document.documentElement, { subtree: true, childList: true, characterData: true });
  addEventListener("input", (event) => event.target.matches?.(FIELD) && readField(event.target));
  new MutationObserver(() => later(document.body)).observe(document.documentElement, { attributeFilter: ["lang"] });
  later(document.body);
}
