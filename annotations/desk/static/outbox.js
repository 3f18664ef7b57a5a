// The outbox: decisions that the server has not acknowledged yet. One localStorage key each, never any sentence.
// Storage belongs to host and port, so a key names database, project and annotator; what is not ours stays untouched.

const OP = "evenhand:op:";
const REFUSED = "evenhand:refused:";

function randomId() {
  if (globalThis.crypto?.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // plain http on a LAN has no randomUUID
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function storedKeys(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return []; // storage is switched off
  }
}

function storedValue(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

// In the order of making. The clock says little (it may have been set back meanwhile): about one sentence a decision
// comes after the one it replaces, and after those that its desk counted before it.
function inOrder(ops) {
  const rest = new Set(ops.sort((one, other) => one.made - other.made || one.revision - other.revision));
  const sorted = [];
  const take = (op) => {
    if (!rest.delete(op)) return;
    const before = (one) => one.op === op.base || (one.desk === op.desk && one.revision < op.revision);
    ops.filter((one) => one.item === op.item && before(one)).forEach(take);
    sorted.push(op);
  };
  ops.forEach(take);
  return sorted;
}

class Outbox {
  constructor(owner) {
    this.owner = `${owner.database}:${owner.project}:${owner.annotator}:`;
    this.ops = new Map(); // op id -> operation, in the order of making
    this.unkept = new Set(); // what this browser could not keep: nothing new is shown until it is stored
    this.refused = storedKeys(REFUSED + this.owner)
      .map(storedValue)
      .filter(Boolean);
    const kept = storedKeys(OP + this.owner).map(storedValue);
    for (const op of inOrder(kept.filter((one) => one?.op))) this.ops.set(op.op, op);
  }

  get size() {
    return this.ops.size;
  }

  keep(op) {
    this.ops.set(op.op, op);
    try {
      localStorage.setItem(OP + this.owner + op.op, JSON.stringify(op));
    } catch {
      this.unkept.add(op.op);
    }
  }

  drop(id) {
    this.ops.delete(id);
    this.unkept.delete(id);
    try {
      localStorage.removeItem(OP + this.owner + id);
    } catch {
      // nothing was kept
    }
  }

  first(count) {
    return [...this.ops.values()].slice(0, count);
  }

  refuse(op, reason) {
    const entry = { ...op, reason };
    this.refused.push(entry);
    try {
      localStorage.setItem(REFUSED + this.owner + op.op, JSON.stringify(entry));
    } catch {
      // shown in the list all the same
    }
    this.drop(op.op);
  }

  clearRefused() {
    for (const entry of this.refused) {
      try {
        localStorage.removeItem(REFUSED + this.owner + entry.op);
      } catch {
        // was never kept
      }
    }
    this.refused = [];
  }

  // Decisions in this browser that belong to somebody or something else: left alone, but said.
  foreign() {
    const [database] = this.owner.split(":");
    const others = storedKeys(OP).filter((key) => !key.startsWith(OP + this.owner));
    const elsewhere = others.filter((key) => !key.startsWith(`${OP}${database}:`));
    return { keys: others, database: elsewhere.length, desk: others.length - elsewhere.length };
  }
}
