// What waits to be labelled, what was decided, and the way of both to the server. Draws nothing.

const FULL = 40; // items kept ready
const LOW = 30; // below this more are asked for
const OPS_AT_ONCE = 50;
const BACK_OFF_MS = [300, 700, 1500, 3000, 5000, 10000];
const ASK_AGAIN_MS = 20000; // when there is nothing to label
const HEARTBEAT_MS = 60000;
const PAST = 30; // own decisions asked for at the start
const UNDOABLE = 30; // labels that undo goes back where words are covered; the server uncovers older ones

class Queue {
  constructor(data, changed) {
    this.changed = changed;
    this.owner = { database: data.database, project: data.project.uid, annotator: data.annotator.uid };
    this.server = new Server(data.api, data.token, data.language);
    this.outbox = new Outbox(this.owner);
    this.version = data.guideline.version;
    this.coversWords = data.project.kind === "sentences" && data.project.presentation === "masked";
    this.pilot = data.pilot ?? null; // how far one is in the open pilot; null: none is open
    this.news = data.news ?? []; // versions whose changes have not been read
    this.back = data.back ?? 0; // how many items a new version has sent back to this annotator
    this.next = null; // a newer guideline than the one in view: nothing is labelled until it has been read
    this.tags = null; // own tags of before, told once
    this.desk = randomId();
    this.revision = 0;
    this.made = 0; // labels of this visit
    this.items = []; // the first one is next on screen
    this.past = []; // own decisions, newest first
    this.latest = new Map(); // item -> the operation that stands for it
    this.conflicts = [];
    this.progress = null;
    this.skipped = 0; // how many were skipped twice, and are left to others or to the lead
    this.once = new Set(); // what was skipped in this visit
    this.skipsLeft = null; // how often a participant of a study may still skip; null: as often as wanted
    this.left = false; // this annotator labels here no more: decisions are still sent, nothing is handed out
    this.state = "starting"; // starting, here, away, signed_out, closed
    this.message = "";
    this.savedAt = null;
    this.greeted = false;
    this.failures = 0;
    this.alone = false; // after a request that the server could not accept: one decision each, and nothing else
    this.lastContact = 0;
    this.timer = null; // one at most: the next time to ask
    for (const op of this.outbox.ops.values()) this.latest.set(op.item, op.op);
  }

  start() {
    this.flush();
    this.beat = setInterval(() => this.heartbeat(), HEARTBEAT_MS / 2);
  }

  // The desk is closed; what is on its way is still delivered if the server is there, else it waits in storage.
  stop() {
    this.stopped = true;
    this.changed = () => {};
    clearInterval(this.beat);
    this.flush();
  }

  signIn(token) {
    if (token === this.server.token) return;
    this.server.token = token;
    if (this.state !== "signed_out" && this.state !== "closed") return;
    this.state = "here";
    this.flush();
  }

  // Invariant 2: the decision is in storage before anything else happens; the caller draws afterwards.
  record(item, choice, details) {
    const before = this.past.find((one) => one.item.id === item.id);
    const counted = before && before.choice !== "skip" ? 1 : 0;
    const op = {
      op: randomId(),
      ...this.owner,
      item: item.id,
      desk: this.desk,
      revision: ++this.revision,
      base: this.latest.get(item.id) ?? null,
      choice,
      reasons: details.reasons ?? [],
      tags: details.tags ?? [],
      note: details.note ?? "",
      extraneous: details.extraneous ?? null,
      spans: details.spans ?? [],
      seconds: details.seconds ?? null,
      form: details.form,
      guideline: this.version,
      step: (choice && choice !== "skip" ? 1 : 0) - counted, // how it moves the count of labelled sentences
      made: Date.now(),
    };
    if (choice && choice !== "skip") this.made += 1;
    this.outbox.keep(op);
    this.latest.set(item.id, op.op);
    this.items = this.items.filter((one) => one.id !== item.id);
    this.past = this.past.filter((one) => one.item.id !== item.id);
    return op;
  }

  decide(item, choice, details) {
    const op = this.record(item, choice, details);
    const { reasons, tags, note, extraneous, spans } = op;
    const created = new Date(op.made).toISOString();
    this.past.unshift({ item, choice, reasons, tags, note, extraneous, spans, op: op.op, created, made: this.made });
    this.flush();
    return op;
  }

  takeBack(decision, form) {
    this.record(decision.item, null, { form });
    this.items.unshift({ ...decision.item, before: decision });
    this.flush();
    if (this.past.length < 5 && this.progress?.labelled > this.past.length) this.more();
  }

  get idle() {
    if (this.stopped && (this.state !== "here" || !this.outbox.size)) return true;
    return this.busy || this.state === "signed_out" || this.state === "closed";
  }

  async flush() {
    if (this.idle) return;
    const alone = this.alone && this.outbox.size > 0;
    const ops = this.outbox.first(alone ? 1 : OPS_AT_ONCE);
    const want = this.items.length < LOW && !this.stopped && !alone ? FULL - this.items.length : 0;
    if (!ops.length && !want && this.greeted && !this.behind) return;
    const hello = !this.greeted && !alone && this.outbox.size <= OPS_AT_ONCE; // the past is told once all is stored
    clearTimeout(this.timer);
    this.busy = true;
    let delay = null;
    try {
      const have = want > 0 ? this.items.map((item) => item.id) : []; // after many undone ones it is long
      const reply = await this.server.post("sync", {
        desk: this.desk, ops, have, want, hello: hello ? PAST : 0, version: this.known,
      });
      delay = this.receive(reply, ops, want);
    } catch (error) {
      delay = this.rejected(error, ops, alone) ?? this.failed(error);
    }
    this.busy = false;
    this.changed();
    if (delay !== null) this.later(delay);
  }

  // Returns when to ask again: at once, after a while, or null for not before something happens.
  receive(reply, ops, want) {
    const answered = new Map(reply.answers.map((answer) => [answer.op, answer]));
    for (const op of ops) if (answered.has(op.op)) this.settle(op, answered.get(op.op));
    this.state = "here";
    this.failures = 0;
    this.lastContact = Date.now();
    if (reply.answers.some((answer) => answer.result === "acked")) this.savedAt = new Date();
    if (reply.progress) this.progress = reply.progress;
    if (reply.history) this.remember(reply.history, true);
    if (reply.conflicts) this.conflicts = reply.conflicts;
    this.skipped = reply.skipped ?? this.skipped;
    this.skipsLeft = reply.skips_left ?? this.skipsLeft;
    if (reply.history) this.greeted = true;
    if (reply.tags) this.tags = reply.tags;
    this.news = reply.news ?? this.news;
    this.back = reply.back ?? this.back;
    const turned = this.follow(reply.pilot ?? null) || this.renewed(reply.next ?? null);
    this.seated(reply);
    const fresh = this.add(reply.items);
    const unsent = this.outbox.size > 0;
    const calm = this.alone && !unsent; // nothing was asked for meanwhile
    this.alone &&= unsent;
    if (ops.length && !answered.size) return BACK_OFF_MS.at(-1); // a reply without answers must not spin
    if (unsent || calm || !this.greeted || turned) return 0;
    if ((want || this.left) && !fresh) return this.items.length ? null : ASK_AGAIN_MS;
    return null;
  }

  // A pilot begins or ends: what was ready is handed out no more, but for the sentence on screen.
  follow(pilot) {
    const turned = this.pilot?.number !== pilot?.number;
    this.pilot = pilot;
    if (turned) this.items = this.items.filter((one, place) => place === 0 || one.before);
    return turned;
  }

  // The newest version that this desk has been told of.
  get known() {
    return this.next?.guideline.version ?? this.version;
  }

  // Whether something has to be read before the next label.
  get unread() {
    return !this.left && this.state !== "closed" && (this.next !== null || this.news.length > 0);
  }

  // A newer guideline: what was ready is asked for anew, since what it has sent back comes first.
  renewed(next) {
    this.behind = false;
    if (!next || next.guideline.version <= this.known) return false;
    this.next = next;
    this.items = this.items.filter((one) => one.before);
    return true;
  }

  // It has been read, and is what labels are made under from now on.
  take(news) {
    if (this.next) this.version = this.next.guideline.version;
    this.next = null;
    this.news = news;
    this.flush();
  }

  // Whether this annotator still labels here; who does not has nothing ready: it is with others.
  seated(reply) {
    const turned = this.left !== Boolean(reply.left);
    this.left = Boolean(reply.left);
    if (this.left) this.items = [];
    return turned;
  }

  settle(op, answer) {
    if (answer.result === "refused") {
      this.outbox.refuse(op, answer.reason);
      this.past = this.past.filter((one) => one.op !== op.op);
      if (this.latest.get(op.item) === op.op) this.rebase(op.item, op.base);
      for (const later of this.outbox.ops.values()) if (later.base === op.op) this.outbox.keep({ ...later, base: op.base });
    } else this.outbox.drop(op.op);
    if (!answer.conflict) return;
    this.past = this.past.filter((one) => one.op !== op.op); // another desk's decision stands
    this.rebase(op.item, answer.latest);
  }

  rebase(item, base) {
    if (base) this.latest.set(item, base);
    else this.latest.delete(item);
  }

  // A request that the server can never accept as it is must not hold up the others: the decisions go one by one,
  // and the one that is the reason is refused. Null where the request was not at fault.
  rejected(error, ops, alone) {
    if (!(error instanceof Denied) || (error.status !== 400 && error.status !== 413) || !ops.length) return null;
    if (alone) this.settle(ops[0], { result: "refused", reason: error.message });
    this.alone = true;
    return BACK_OFF_MS[0];
  }

  // Only "you may not" closes the desk, and only a new sign-in opens it again; anything else is tried again.
  failed(error) {
    if (error instanceof Denied && (error.status === 401 || error.status === 403)) {
      this.state = error.status === 401 ? "signed_out" : "closed";
      this.message = error.message;
      return null;
    }
    if (error instanceof Denied) this.failures = BACK_OFF_MS.length; // as it is it will hardly succeed: slowly
    this.state = "away";
    return BACK_OFF_MS[Math.min(this.failures++, BACK_OFF_MS.length - 1)];
  }

  later(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), delay);
  }

  add(items) {
    const known = new Set(this.items.map((item) => item.id));
    for (const op of this.outbox.ops.values()) known.add(op.item);
    const fresh = (items ?? []).filter((item) => !known.has(item.id));
    for (const item of fresh) if (item.base) this.latest.set(item.id, item.base);
    this.items.push(...fresh);
    return fresh.length;
  }

  // Where a decision of the server is in the undo history.
  place(decision) {
    const waiting = [...this.outbox.ops.values()].filter((op) => op.choice && op.choice !== "skip").length;
    decision.made = this.made - waiting - (decision.ago ?? (decision.item.covered ? 0 : UNDOABLE));
    return decision;
  }

  // Whether a decision is still in the undo history, which ends where words are covered: the word is shown after that.
  mayUndo(decision) {
    return !this.coversWords || decision.choice === "skip" || this.made - decision.made < UNDOABLE;
  }

  // The server's list of own decisions; what is decided or taken back here and not yet stored there goes first.
  remember(decisions, whole) {
    const mine = this.past.filter((one) => this.outbox.ops.has(one.op) || one.choice === "skip" || !whole);
    const taken = new Set([...mine, ...this.items.map((item) => ({ item }))].map((one) => one.item.id));
    for (const op of this.outbox.ops.values()) taken.add(op.item);
    const older = decisions.filter((one) => !taken.has(one.item.id));
    for (const one of older) this.place(one);
    for (const one of older) this.latest.set(one.item.id, one.op);
    this.past = [...mine, ...older];
  }

  async more() {
    try {
      const reply = await this.server.post("history", { limit: this.past.length + PAST, search: "" });
      this.remember(reply.history, false);
      this.changed();
    } catch {
      // the next undo asks again
    }
  }

  // *now*: do not wait for the next beat.
  async heartbeat(now = false) {
    if (this.idle || (!now && Date.now() - this.lastContact < HEARTBEAT_MS - 5000)) return;
    try {
      const reply = await this.server.post("heartbeat", {});
      const turned = this.seated(reply);
      this.lastContact = Date.now();
      this.behind = reply.guideline > this.known;
      if (this.state === "away" || this.behind || (turned && !this.left)) this.flush();
      if (turned) this.changed(); // the lead let somebody else take this place, or gave it back
    } catch (error) {
      this.failed(error);
      if (this.state === "away") this.later(BACK_OFF_MS[0]);
      this.changed();
    }
  }

  // What is on its way counts already.
  get labelled() {
    return this.counted(this.progress?.labelled ?? 0);
  }

  counted(stored) {
    let count = stored;
    for (const op of this.outbox.ops.values()) count += op.step ?? 0;
    return Math.max(0, count);
  }

  // What is on its way counts already.
  get maySkip() {
    const waiting = [...this.outbox.ops.values()].filter((op) => op.choice === "skip").length;
    return this.skipsLeft === null || this.skipsLeft > waiting;
  }

  // What the bar counts: the pilot while one is open, else everything.
  get measured() {
    const { pilot, progress } = this;
    if (pilot) return { pilot: pilot.number, done: this.counted(pilot.labelled), total: pilot.items };
    return progress ? { pilot: null, done: this.labelled, total: progress.total } : null;
  }
}
