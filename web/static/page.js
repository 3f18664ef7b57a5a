/* Runs once in the browser, for all pages: the history, the keys and the marks for screen readers that Streamlit does
   not set. */
if (!document.evenhandPage) {
  document.evenhandPage = true;

  // Streamlit adds an entry to the history for each change of the address. A page that only adds its project or its
  // part to the address replaces the entry, or Back would open the same page again.
  const push = history.pushState.bind(history);
  history.pushState = (state, title, address) => {
    const next = new URL(address, location.href), now = new URL(location.href);
    const same = next.pathname === now.pathname
      && [...now.searchParams].every(([name, value]) => next.searchParams.getAll(name).includes(value));
    same ? history.replaceState(state, title, address) : push(state, title, address);
  };
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.closest?.('[data-testid="stTextArea"]')) event.target.blur();
  });

  // One-letter keys of a page obey the switch of the desk (WCAG 2.1.4), which the page with such keys shows as well. The
  // desk has its own listener.
  const KEYS = "evenhand:desk:keys"; // as annotations/desk/static/preferences.js stores it
  const DESK = '[data-testid^="stBidiComponent"]';
  const TYPED = 'input, textarea, select, [contenteditable], [role="grid"], [role="listbox"], [role="menu"], canvas';
  const scopeOfKeys = () => {
    try {
      return JSON.parse(localStorage.getItem(KEYS)) ?? "page";
    } catch {
      return "page";
    }
  };
  addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector(DESK)) return;
    if ([...event.key].length !== 1 || event.key === " " || target.closest?.(TYPED)) return;
    const scope = scopeOfKeys();
    if (scope === "off" || (scope === "desk" && !target.closest?.(".st-key-decisions"))) event.stopImmediatePropagation();
  }, true);
  addEventListener("change", (event) => {
    if (event.target.name !== "evenhand-keys") return;
    try {
      localStorage.setItem(KEYS, JSON.stringify(event.target.value));
    } catch {
      // only while storage is allowed
    }
  });
  const markKeys = () => {
    for (const radio of document.querySelectorAll('input[name="evenhand-keys"]')) radio.checked = radio.value === scopeOfKeys();
  };

  // A live region of the page: what has data-say is said when its text changes, or when it comes up on a page that has
  // been open for a while.
  const region = document.createElement("div");
  region.id = "evenhand-says";
  region.setAttribute("aria-live", "polite");
  region.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap";
  document.body.append(region);
  const said = new Map();
  let where = null, since = 0;
  const sayChanges = () => {
    const fresh = [];
    if (where !== location.pathname) [where, since] = [location.pathname, performance.now()];
    for (const element of document.querySelectorAll("[data-say]")) {
      const { say } = element.dataset, text = element.textContent.trim();
      if (said.get(say) !== text && (said.has(say) || performance.now() - since > 3000)) fresh.push(text);
      said.set(say, text);
    }
    if (fresh.length) region.textContent = fresh.join(" ");
  };

  // After a move to another page its heading gets the focus, so that a screen reader says where the visitor is.
  const heading = () => document.querySelector('[data-testid="stMain"] h1');
  let page = location.pathname, before = null; // *before*: the heading of the page that was left; null: no move
  const focusHeading = () => {
    if (location.pathname !== page) {
      page = location.pathname;
      before ??= shown;
    }
    const title = heading()?.textContent;
    if (before === null || !title || title === before) {
      shown = title ?? shown;
      return;
    }
    shown = title;
    before = null;
    const busy = document.activeElement;
    if (busy && busy !== document.body && !busy.closest('[data-testid="stSidebar"]')) return;
    heading().tabIndex = -1;
    heading().focus({ preventScroll: true });
  };
  let shown = heading()?.textContent ?? "";

  const name = (address) => address.split("?")[0].split("/").pop();
  const markRail = () => {
    const rail = document.querySelector(".st-key-rail");
    if (!rail) return;
    rail.setAttribute("role", "navigation");
    rail.setAttribute("aria-label", document.documentElement.dataset.rail);
    const here = rail.querySelector(".st-key-rail-here a");
    for (const link of rail.querySelectorAll('a[data-testid="stPageLink-NavLink"]')) {
      const current = here ? link === here : name(link.getAttribute("href")) === name(location.pathname);
      current ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
    }
  };

  // Vega gives the rectangle of a span that is being marked the role of a picture, without a name.
  const hideNameless = () => {
    for (const mark of document.querySelectorAll('svg [role="graphics-symbol"]:not([aria-label])')) {
      mark.removeAttribute("role");
      mark.removeAttribute("aria-roledescription");
    }
  };

  let waiting = false;
  const update = () => {
    waiting = false;
    hideNameless();
    focusHeading();
    markRail();
    markKeys();
    sayChanges();
  };
  new MutationObserver(() => {
    if (!waiting) { waiting = true; requestAnimationFrame(update); }
  }).observe(document.documentElement, { subtree: true, childList: true, characterData: true });
  update();
}
