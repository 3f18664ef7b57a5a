// Small choices of this browser: whether the pace is shown. Never anything about a sentence.

const PREFERENCES = "evenhand:desk:";

function preference(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(PREFERENCES + name)) ?? fallback;
  } catch {
    return fallback;
  }
}

function prefer(name, value) {
  try {
    localStorage.setItem(PREFERENCES + name, JSON.stringify(value));
  } catch {
    // only for this visit
  }
}
