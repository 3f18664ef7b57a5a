// Free tags: in a pilot annotators say in their own words what they see. What is offered are their own earlier tags.

const TAG_ENDS = /[,，、;；\n]/u;
const OFFERED = 8;
const LONGEST_TAG = 60;
const MOST_TAGS = 12;

function cleanTag(text) {
  return Array.from(text.split(/\s+/u).filter(Boolean).join(" ").normalize("NFC")).slice(0, LONGEST_TAG).join("").trim();
}

function hashed(tags) {
  return (tags ?? []).map((tag) => `#${tag}`);
}

class FreeTags {
  constructor(desk, part) {
    this.desk = desk;
    this.part = part;
    this.known = []; // own tags, commonest first, the newest in front
    this.t = (text, values) => desk.t(text, values);
    const { tagInput: input, tagForm: form } = part;
    form.onsubmit = (event) => event.preventDefault();
    input.oninput = (event) => event.isComposing || this.typed();
    input.oncompositionend = () => this.typed();
    input.onblur = () => this.take(input.value);
    input.onkeyup = (event) => event.stopPropagation();
    input.addEventListener("keydown", (event) => this.key(event));
    // A press on an offer must not take the focus from the field first: the half-typed word would become a tag.
    form.onpointerdown = (event) => event.target.closest("[data-act=tag]") && event.preventDefault();
  }

  // In a pilot, and where an earlier decision bears tags.
  get shown() {
    const { desk } = this;
    return Boolean(desk.screen.item && !desk.veiled && (desk.queue.pilot || desk.draft.tags.length));
  }

  words() {
    const { part, t, desk } = this;
    const taken = desk.data.choices.some((one) => one.key.toLowerCase() === this.letter);
    part.tagKey.textContent = desk.keymap.shown(this.letter.toUpperCase());
    part.tagKey.hidden = taken; // the letter decides in this project; the field is opened by a touch
    part.tagLabel.textContent = t("My tags");
    part.tagInput.placeholder = t("In your own words; press Enter or comma to finish a tag");
    part.tagInput.maxLength = 400;
  }

  get letter() {
    return this.desk.data.project.kind === "generations" ? "w" : "t";
  }

  focus() {
    if (this.shown) this.part.tagInput.focus();
  }

  key(event) {
    event.stopPropagation(); // what is typed here is neither for the desk nor for the page around it
    if (event.isComposing || event.keyCode === 229) return; // Enter chooses a word of the input method
    const { tagInput: input } = this.part;
    if (event.key === "Enter") {
      event.preventDefault();
      if (event.repeat) return;
      if (input.value.trim()) this.take(input.value);
      else this.desk.view.focusDesk();
    } else if (event.key === "Escape") {
      event.preventDefault();
      input.value = "";
      this.desk.view.focusDesk();
    } else if (event.key === "Backspace" && !input.value && this.desk.draft.tags.length) {
      this.remove(this.desk.draft.tags.at(-1));
    }
  }

  typed() {
    const { tagInput: input } = this.part;
    if (TAG_ENDS.test(input.value)) {
      const pieces = input.value.split(TAG_ENDS);
      const rest = pieces.pop();
      this.take(pieces.join(","));
      input.value = rest.trimStart();
    }
    this.draw();
  }

  take(text) {
    const { draft } = this.desk;
    for (const tag of text.split(TAG_ENDS).map(cleanTag).filter(Boolean)) {
      if (draft.tags.length < MOST_TAGS && !draft.tags.includes(tag)) draft.tags = [...draft.tags, tag];
    }
    this.part.tagInput.value = "";
    this.draw();
  }

  remove(tag) {
    const { draft } = this.desk;
    draft.tags = draft.tags.filter((one) => one !== tag);
    this.draw();
  }

  // A half-typed tag belongs to the label that is made now.
  finished() {
    if (this.part.tagInput.value.trim()) this.take(this.part.tagInput.value);
    this.known = [...new Set([...this.desk.draft.tags, ...this.known])];
    return [...this.desk.draft.tags];
  }

  offers() {
    const { draft } = this.desk;
    const begun = this.part.tagInput.value.trim().toLowerCase();
    const free = this.known.filter((one) => !draft.tags.includes(one));
    return free.filter((one) => !begun || one.toLowerCase().includes(begun)).slice(0, OFFERED);
  }

  draw() {
    const { part, t, desk } = this;
    const { item } = desk.screen;
    if (this.item !== item?.id) {
      this.item = item?.id;
      part.tagInput.value = "";
    }
    part.tagForm.hidden = !this.shown;
    if (!this.shown) return;
    const offers = this.offers();
    const looks = JSON.stringify([desk.draft.tags, offers, desk.data.language]);
    if (this.looks === looks) return;
    this.looks = looks;
    const chip = (tag) => {
      const says = t("Remove tag {tag}", { tag });
      const more = { class: "chip", "data-act": "untag", "data-code": tag, "aria-label": says, title: says };
      return element("button", { type: "button", ...more }, stored(tag, desk), element("i", { text: "×" }));
    };
    const offer = (tag) => element("button", { type: "button", class: "offer", "data-act": "tag", "data-code": tag }, stored(tag, desk));
    part.tagChips.replaceChildren(...desk.draft.tags.map(chip));
    part.tagOffers.hidden = !offers.length;
    part.tagOffers.replaceChildren(element("span", { class: "soft", text: t("My tags so far:") }), ...offers.map(offer));
  }
}
