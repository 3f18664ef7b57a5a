/* Streamlit's front end speaks English only. Its own words, and nothing else, are put into the language of the page:
   texts in its menus and hints, labels that a screen reader reads. WORDS is a list of [English, translated]. */
if (!document.evenhandWords) {
  document.evenhandWords = true;
  const PLACES = [
    'InputInstructions', 'stMultiSelectDropdown', 'stSelectboxVirtualDropdown', 'stTooltipContent', 'stMainMenuPopover',
    'stDataFrameColumnMenu', 'stDataFrameColumnVisibilityMenu', 'stDataFrameColumnFormattingMenu', 'stSkipToContent',
    'stFileUploader', 'stStatusWidget', 'stDialog', 'stTextInput', 'stNumberInput',
  ].map((place) => `[data-testid="${place}"]`).join(',') + ',[data-live-announcer]';
  const LABELS = ['aria-label', 'placeholder', 'title', 'alt'];
  const OTHERS = '.stHtml, [data-testid="stBidiComponentRegular"], [data-tag] > span:first-child';
  const escaped = (text) => text.replace(/[.*+?^$()|[\]\\{}]/g, '\\$&');
  const gap = (_, name) => (name === 'n' ? '([\\d.,]+)' : '(.+)');  // {n} is a number: no "Page not found"
  const table = (pairs) => {
    const exact = new Map(), forms = [];
    for (const [from, to] of pairs) {
      if (!from.includes('{')) exact.set(from, to);
      else forms.push([new RegExp(`^${escaped(from).replace(/\\\{(\w+)\\\}/g, gap)}$`, 's'), to]);
    }
    return (text) => {
      if (exact.has(text)) return exact.get(text);
      for (const [form, to] of forms) {
        const found = form.exec(text);
        if (found) return to.replace(/\{\w+\}/g, () => found.splice(1, 1)[0]);
      }
      return text;
    };
  };
  const there = table(WORDS), back = table(WORDS.map(([from, to]) => [to, from]));
  let waiting = false;
  const scan = () => {
    waiting = false;
    const say = document.documentElement.lang === 'zh-CN' ? there : back;
    for (const place of document.querySelectorAll(PLACES)) {
      const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const node = texts.currentNode, said = say(node.data);
        if (said !== node.data) node.data = said;
      }
    }
    for (const label of LABELS) {
      for (const element of document.querySelectorAll(`[${label}]`)) {
        const own = element.getAttribute(label), said = say(own);
        if (said !== own && !element.closest(OTHERS)) element.setAttribute(label, said);
      }
    }
  };
  new MutationObserver(() => {
    if (!waiting) { waiting = true; requestAnimationFrame(scan); }
  }).observe(document.documentElement, {
    subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: [...LABELS, 'lang'],
  });
  scan();
}
