// The line above the card, and what the card says when no sentence is on it.

const SENDING_MS = 700; // how long a decision may be on its way before the desk mentions it

class Status {
  constructor(desk, part) {
    this.desk = desk;
    this.part = part;
    this.t = (text, values) => desk.t(text, values);
  }

  empty() {
    const { queue } = this.desk;
    const { measured } = queue;
    const done = measured && measured.done >= measured.total;
    let [head, text] = [this.t("One moment …"), ""];
    if (queue.outbox.unkept.size) [head, text] = [this.t("Saving …"), ""];
    else if (queue.state === "closed") [head, text] = [queue.message, ""];
    else if (queue.state === "away")
      [head, text] = [
        this.t("The server is not responding."),
        this.t("No sentences are left in this browser. Work resumes as soon as the server is back."),
      ];
    else if (queue.left)
      [head, text] = [
        this.t("You no longer label in this project."),
        this.t("Your labels are stored and still count. If this is unexpected, ask the project lead."),
      ];
    else if (queue.greeted && queue.pilot)
      [head, text] = [
        done ? this.t("You have finished your part of the pilot. Thank you.") : this.t("Nothing to label at the moment."),
        this.t("The remaining pilot sentences are with other annotators. Work continues here once the lead has closed the pilot."),
      ];
    else if (queue.greeted && done)
      [head, text] = [
        this.t("All done. Thank you."),
        this.t("You have labelled all {n} sentences assigned to you. New ones will appear here automatically.", {
          n: queue.progress.total,
        }),
      ];
    else if (queue.greeted)
      [head, text] = [
        this.t("Nothing to label at the moment."),
        queue.skipped
          ? ""
          : this.t(
              "The remaining sentences are with other annotators or waiting for the lead. New ones will appear here automatically.",
            ),
      ];
    const [was, waits] = [this.head, [this.t("One moment …"), this.t("Saving …")].includes(head)];
    this.head = head;
    if (was !== head && !waits) this.desk.view?.tell(head);
    this.part.empty.replaceChildren(element("h2", { text: head }), ...(text ? [element("p", { text })] : []), ...this.skipped());
  }

  // Otherwise who has skipped everything that is left would read that others have it.
  skipped() {
    const { queue } = this.desk;
    if (!queue.greeted || !queue.skipped || queue.left) return [];
    const lines = [this.t("Skipped twice, and left to other annotators or to the lead: {n}.", { n: queue.skipped })];
    if (queue.past[0]?.choice === "skip") lines.push(this.t("Press {key} to return to the last skipped item.", { key: this.desk.keymap.shown("U") }));
    return lines.map((text) => element("p", { text }));
  }

  draw() {
    const { desk, part, t } = this;
    const { queue } = desk;
    if (desk.screen.item) this.head = null;
    const { progress, measured } = queue;
    part.progress.textContent = measured ? this.count(measured) : "";
    const share = measured?.total ? Math.min(1, measured.done / measured.total) : 0;
    part.bar.firstElementChild.style.width = `${(share * 100).toFixed(2)}%`;
    part.bar.setAttribute("aria-valuemax", measured?.total ?? 0);
    part.bar.setAttribute("aria-valuenow", measured?.done ?? 0);
    part.pace.textContent = paceText(progress && { ...progress, total: measured.total }, measured?.done ?? 0, desk.showPace, t);
    part.pace.title = desk.showPace ? t("Hide the pace") : t("Show the pace");
    this.saved();
  }

  count({ pilot, done, total }) {
    const counts = { done: number(done), total: number(total), number: pilot };
    return pilot ? this.t("Pilot {number}, my progress: {done} of {total}", counts) : this.t("My progress: {done} of {total}", counts);
  }

  saved() {
    const { queue } = this.desk;
    const waiting = queue.outbox.size;
    const [oldest] = queue.outbox.ops.values();
    const slow = oldest && Date.now() - oldest.made > SENDING_MS;
    clearTimeout(this.recheck);
    if (oldest && !slow) this.recheck = setTimeout(() => this.saved(), SENDING_MS + 50);
    const trouble = queue.state === "away" || queue.state === "signed_out";
    const kind = trouble ? "trouble" : slow ? "sending" : "good";
    let text = queue.savedAt
      ? this.t("Saved {time}", { time: queue.savedAt.toLocaleTimeString([], { hour12: false }) })
      : "";
    if (slow || trouble) text = this.t("{n} waiting to be sent", { n: waiting });
    this.part.saved.className = text ? `saved ${kind}` : "saved";
    if (this.part.saved.textContent !== text) this.part.saved.textContent = text;
  }
}
