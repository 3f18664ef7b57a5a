// How long a text has been in view, and when a pause is due. Time on a hidden tab is not counted.

const BREAK_MS = 300000; // whoever was away this long has had a pause

class Clock {
  constructor() {
    this.restart();
  }

  restart() {
    this.spent = 0;
    this.since = performance.now();
  }

  // The tab was hidden, or is back.
  turn() {
    const now = performance.now();
    if (this.since !== null) this.spent += now - this.since;
    this.since = document.hidden ? null : now;
  }

  get seconds() {
    return Math.round(this.spent + (this.since === null ? 0 : performance.now() - this.since)) / 1000;
  }
}

// Reminds of a pause after so many minutes of work; it only says so, stops nothing and is stored nowhere.
class Pause {
  constructor() {
    this.worked = 0;
    this.last = Date.now();
  }

  // Called at every act of the annotator: work is the time between two acts that are not a break apart.
  note() {
    const gap = Date.now() - this.last;
    this.last += gap;
    this.worked = gap >= 0 && gap < BREAK_MS ? this.worked + gap : 0;
  }

  isDue(minutes) {
    return Boolean(minutes) && this.worked >= minutes * 60000;
  }

  taken() {
    this.worked = 0;
    this.last = Date.now();
  }
}
