// What the annotator must know beside the work: the server is away, decisions were refused, belong elsewhere, conflict.

const RELOAD_AFTER_MS = 4000; // when the page does not bring a new token by itself

function saveFile(name, data) {
  const link = element("a", {
    href: URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: "application/json" })),
    download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

class Notices {
  constructor(desk, place) {
    this.desk = desk;
    this.place = place;
    this.t = (text, values) => desk.t(text, values);
    this.foreign = desk.queue.outbox.foreign();
  }

  draw() {
    const made = [...this.connection(), ...this.storage(), ...this.refused(), ...this.conflicts(), ...this.hint(), ...this.pause()];
    const looks = made.map((one) => one.textContent).join("\n");
    if (looks === this.looks) return;
    this.looks = looks;
    this.place.replaceChildren(...made);
    this.announce(made);
  }

  // A kind of notice that was not there before is said once, however its numbers change; a hint was said when it came.
  announce(made) {
    const kinds = new Set(made.map((one) => one.dataset.notice));
    const fresh = made.filter((one) => one.dataset.notice !== "hint" && !this.kinds?.has(one.dataset.notice));
    if (fresh.length) this.desk.view.tell(fresh.map((one) => one.querySelector("span").textContent).join(" "));
    else if (this.kinds?.has("away") && !kinds.has("away")) this.desk.view.tell(this.t("The server is responding again."));
    this.kinds = kinds;
  }

  notice(kind, text, ...more) {
    return element("div", { class: `notice ${kind}`, "data-notice": kind }, element("span", { text }), ...more);
  }

  action(act, label, what) {
    return element("button", { type: "button", "data-act": act, "data-what": what, text: label });
  }

  connection() {
    const { queue } = this.desk;
    const n = queue.outbox.size;
    if (queue.state === "signed_out") {
      const text = `${queue.message} ${n ? this.t("{n} decisions are kept in this browser.", { n }) : ""}`;
      return [this.notice("signed-out", text, this.action("sign-in", this.t("Sign in again")))];
    }
    if (queue.state === "away") {
      const ready = this.desk.queue.items.length;
      return [
        this.notice(
          "away",
          this.t(
            "The server is not responding. You can keep working: {ready} sentences are ready, and {n} decisions are kept in this browser and will be sent once the server is back.",
            { n, ready },
          ),
        ),
      ];
    }
    return [];
  }

  storage() {
    const { outbox } = this.desk.queue;
    const made = [];
    if (outbox.unkept.size)
      made.push(
        this.notice(
          "unkept",
          this.t(
            "This browser cannot store data. Each sentence waits until the previous one is saved; do not close the page while {n} are being sent.",
            { n: outbox.unkept.size },
          ),
        ),
      );
    const { database, desk } = this.foreign;
    const take = () => this.action("download", this.t("Download"), "foreign");
    if (database)
      made.push(
        this.notice(
          "foreign",
          this.t(
            "{n} decisions in this browser belong to another database. They are kept and will be sent when that database is available at this address again.",
            { n: database },
          ),
          take(),
        ),
      );
    if (desk)
      made.push(
        this.notice(
          "foreign",
          this.t(
            "{n} decisions in this browser belong to another annotator or project. They will be sent when that desk is opened here.",
            { n: desk },
          ),
          take(),
        ),
      );
    return made;
  }

  refused() {
    const { refused } = this.desk.queue.outbox;
    if (!refused.length) return [];
    const list = element("ul");
    for (const one of refused)
      list.append(
        element("li", { text: `${one.choice ? this.desk.labelOf(one.choice) : this.t("undone")} · ${one.item} · ${one.reason}` }),
      );
    const text = this.t("{n} decisions were refused by the server and are not stored.", { n: refused.length });
    const buttons = [
      this.action("download", this.t("Download"), "refused"),
      this.action("clear-refused", this.t("Remove from browser")),
    ];
    return [this.notice("refused", text, ...buttons, list)];
  }

  conflicts() {
    const { conflicts } = this.desk.queue;
    if (!conflicts.length) return [];
    const list = element("ul");
    for (const one of conflicts) {
      const stands = one.stands ? this.desk.labelOf(one.stands) : this.t("no label");
      const open = element("button", {
        type: "button",
        "data-act": "edit",
        "data-item": one.item.id,
        text: this.t("Decide again"),
      });
      const says = this.t("{text}: {here} here, {stands} in the other window. The latter counts.", {
        text: oneLine(one.item, this.desk.data.project.covered),
        here: one.choice ? this.desk.whatOf({ choice: one.choice, tags: one.tags }) : this.t("undone"),
        stands,
      });
      list.append(element("li", {}, ...inLanguages(says, this.desk), " ", open));
    }
    return [
      this.notice(
        "conflict",
        this.t("You labelled {n} sentences in two windows.", { n: conflicts.length }),
        list,
      ),
    ];
  }

  hint() {
    return this.desk.hint ? [this.notice("hint", this.desk.hint)] : [];
  }

  pause() {
    const { pause, data } = this.desk;
    const minutes = data.project.pause;
    if (!pause.isDue(minutes)) return [];
    const text = this.t("You have been working for {n} minutes. A short break helps you judge consistently; your work is saved.", {
      n: minutes,
    });
    return [this.notice("pause", text, this.action("pause", this.t("Continue")))];
  }

  // The page behind the desk makes a new token; where it does not answer, the page is loaded again.
  signIn() {
    this.desk.askPage();
    setTimeout(() => this.desk.queue.state === "signed_out" && location.reload(), RELOAD_AFTER_MS);
  }

  endPause() {
    this.desk.pause.taken();
    this.desk.draw();
    this.desk.view.focusDesk();
  }

  clear() {
    this.desk.queue.outbox.clearRefused();
    this.desk.draw();
  }

  download(what) {
    const { outbox } = this.desk.queue;
    const data =
      what === "refused" ? outbox.refused : this.foreign.keys.map((key) => ({ key, operation: storedValue(key) }));
    saveFile(`evenhand-${what}.json`, data);
  }
}
