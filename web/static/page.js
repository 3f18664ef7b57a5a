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

  let waiting = false;
  const update = () => {
    waiting = false;
    focusHeading();
    markRail();
  };
  new MutationObserver(() => {
    if (!waiting) { waiting = true; requestAnimationFrame(update); }
  }).observe(document.documentElement, { subtree: true, childList: true, characterData: true });
  update();
}
