/* Slides of `presenter.py` in *root*: guess, answer, swapped word, mass. Space goes on; left and right guess, then walk
   through the examples. *actions*: leave(), link(slide, guess) and, where a server makes one, code(link). */
const present = (root, data, actions) => {
  const words = data.texts[data.language], still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const state = { slide: 0, stage: "ask", guess: null, shared: false };
  let counting = 0, shown = 0; // *shown*: log10 of the number on the screen
  const make = (tag, kind, ...inside) => {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.append(...inside);
    return element;
  };
  const button = (text, kind, act) => {
    const element = make("button", kind, text);
    element.type = "button";
    element.addEventListener("click", act);
    return element;
  };
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  const here = () => data.slides[state.slide];
  const stages = () => here().steps.length > 1 ? ["ask", "result", "swap", "mass"] : ["ask", "result", "mass"];
  const step = () => here().steps[stages().indexOf(state.stage) >= stages().indexOf("swap") && here().steps.length > 1 ? 1 : 0];
  const side = (value) => !value ? "" : value > 0 ? "male" : "female";
  const colour = (name) => here().sided ? name : "";

  const show = make("div", "show"), said = make("div", "show-said");
  show.tabIndex = -1;
  show.lang = data.language;
  show.setAttribute("role", "region");
  show.setAttribute("aria-label", words.presenter);
  show.dataset.testid = "presenter";
  said.setAttribute("role", "status");
  said.setAttribute("aria-live", "polite");
  const model = make("span", "show-model"), place = make("span", "");
  const share = button(words.share, "", () => { state.shared = !state.shared; draw(); });
  const bar = make("div", "show-bar", model, place, share, button(words.leave, "", actions.leave));
  const sentence = make("h1", "");
  const ends = make("div", "show-ends"), bit = make("div", "show-fill"), guess = make("div", "show-guess");
  const before = make("div", "show-before"), legend = make("div", "show-legend");
  const track = make("div", "show-track", bit, guess, before, make("div", "show-middle"));
  const verdict = make("p", "show-verdict"), mass = make("div", "show-mass"), caution = make("p", "show-caution");
  const shares = make("div", "show-legend"), lines = make("div", "show-lines", ends, track, legend, mass, shares);
  const female = button("", "female", () => answer("female")), male = button("", "male", () => answer("male"));
  const next = button(words.next, "show-next", () => forward());
  const choices = make("div", "show-choices", female, male, next);
  const link = make("code", ""), code = make("div", ""), copied = make("span", "");
  const copy = button(words.copy, "", async () => {
    try {
      await navigator.clipboard.writeText(link.textContent);
      copied.textContent = words.copied;
    } catch { copied.textContent = words.no_copy; }
    say(copied.textContent);
  });
  const panel = make("div", "show-share", copy, copied, link, code);
  const hint = make("div", "show-legend");
  [track, ends, legend, mass, shares].forEach((element) => element.setAttribute("aria-hidden", "true"));
  show.append(bar, panel, sentence, lines, verdict, caution, choices, hint, said);
  root.replaceChildren(show);

  const say = (text) => { said.textContent = said.textContent === text ? `${text}\u00a0` : text; };
  const times = (log10) => {
    const ratio = 10 ** Math.abs(log10);
    return ratio < 9.95 ? ratio.toFixed(1) : Math.round(ratio).toLocaleString("en");
  };
  const count = (to, text) => {
    cancelAnimationFrame(counting);
    const from = shown, start = performance.now();
    shown = to ?? 0;
    if (still || to === null) { verdict.textContent = text; return; }
    const frame = (now) => {
      const part = Math.min(1, (now - start) / 800), eased = 1 - (1 - part) ** 3;
      if (part === 1) { verdict.textContent = text; return; }
      verdict.textContent = fill(words.times, { times: times(from + (to - from) * eased) });
      counting = requestAnimationFrame(frame);
    };
    counting = requestAnimationFrame(frame);
  };

  const part = (piece, value) => {
    if (piece.length === 1) return piece[0];
    if (piece[0] === "word") return make("span", "show-word", piece[1]);
    const lean = state.stage === "ask" || value === null ? "" : side(value);
    const slot = make("span", `show-slot ${colour(lean)}`, lean === "male" ? piece[2] : lean === "female" ? piece[1] : "");
    if (!lean) { slot.setAttribute("role", "img"); slot.setAttribute("aria-label", `${piece[1]} / ${piece[2]}`); }
    return slot;
  };
  const drawBar = (now) => {
    const asked = state.stage === "ask", at = 50 + 50 * (asked ? 0 : now.value ?? 0) / data.furthest;
    bit.className = `show-fill ${colour(side(now.value))}`;
    bit.style.left = `${Math.min(50, at)}%`;
    bit.style.width = `${Math.abs(at - 50)}%`;
    guess.hidden = !state.guess;
    guess.className = `show-guess ${state.guess}`;
    const first = here().steps[0], swapped = now !== first;
    before.hidden = !swapped || first.value === null;
    before.style.left = `${50 + 50 * (first.value ?? 0) / data.furthest}%`;
    legend.replaceChildren(
      make("span", "", state.guess ? fill(words.guess, { word: here()[state.guess] }) : ""),
      make("span", "", asked ? words.equal : ""), make("span", before.hidden ? "" : "show-was", before.hidden ? "" : first.word));
  };
  const drawMass = (now) => {
    const there = state.stage === "mass";
    mass.hidden = shares.hidden = !there || !now.shares;
    caution.hidden = !there;
    if (!there) return;
    caution.textContent = now.mass[data.language];
    if (!now.shares) return;
    mass.replaceChildren(...["female", "male"].map((name, number) => {
      const piece = make("i", colour(name));
      piece.style.width = `${100 * now.shares[number]}%`;
      return piece;
    }));
    shares.replaceChildren(...[here().female, here().male, words.neither].map(
      (name, number) => make("span", "", `${name} ${now.share_texts[number]}`)));
  };
  const drawShare = () => {
    panel.hidden = !state.shared;
    share.setAttribute("aria-expanded", String(state.shared));
    if (!state.shared) return;
    const address = actions.link(here(), state.guess);
    if (link.textContent === address) return;
    link.textContent = address;
    copied.textContent = "";
    code.replaceChildren();
    actions.code?.(address);
  };
  const draw = () => {
    const slide = here(), now = step(), asked = state.stage === "ask";
    show.dataset.stage = state.stage;
    show.dataset.slide = state.slide;
    model.textContent = [slide.model, slide.note].filter(Boolean).join(" · ");
    place.textContent = fill(words.example, { number: state.slide + 1, count: data.slides.length });
    sentence.lang = slide.language;
    sentence.replaceChildren(...now.parts.map((piece) => part(piece, now.value)));
    ends.replaceChildren(make("span", colour("female"), `◀ ${slide.female}`), make("span", colour("male"), `${slide.male} ▶`));
    ends.lang = female.lang = male.lang = slide.language;
    [female.textContent, male.textContent] = [slide.female, slide.male];
    [female.className, male.className] = [colour("female"), colour("male")];
    female.hidden = male.hidden = !asked;
    next.hidden = asked;
    hint.textContent = asked ? words.keys_ask : words.keys;
    drawBar(now);
    drawMass(now);
    drawShare();
  };
  const tell = () => {
    const now = step(), text = now.verdict[data.language];
    if (state.stage === "ask") {
      cancelAnimationFrame(counting);
      shown = 0;
      verdict.textContent = words.ask;
      say(`${words.ask} ${here().female} / ${here().male}`);
    } else if (state.stage === "mass") say(now.mass[data.language]);
    else {
      count(now.log10, text);
      say(state.stage === "swap" ? `${now.word}: ${text}` : text);
    }
  };
  const go = (stage) => { state.stage = stage; draw(); tell(); };
  const answer = (chosen) => { state.guess = chosen; go("result"); next.focus(); };
  const open = (number) => {
    const count = data.slides.length;
    Object.assign(state, { slide: (number + count) % count, guess: null });
    go("ask");
    show.focus();
  };
  const forward = () => {
    const at = stages().indexOf(state.stage) + 1;
    at < stages().length ? go(stages()[at]) : open(state.slide + 1);
  };
  const onKey = (event) => {
    if (event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const asked = state.stage === "ask", pressed = event.composedPath()[0].tagName === "BUTTON";
    const act = {
      Escape: actions.leave,
      ArrowLeft: () => asked ? answer("female") : open(state.slide - 1),
      ArrowRight: () => asked ? answer("male") : open(state.slide + 1),
      PageUp: () => open(state.slide - 1),
      PageDown: () => asked ? open(state.slide + 1) : forward(),
      " ": pressed || asked ? null : forward,
      Enter: pressed || asked ? null : forward,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  document.addEventListener("keydown", onKey, true);
  if (data.guess) state.guess = data.guess;
  go(data.guess ? "result" : "ask");
  show.focus();
  return {
    setCode: (address, picture) => {
      if (address !== link.textContent) return;
      const image = make("img", "");
      [image.src, image.alt] = [picture, words.code];
      code.replaceChildren(picture ? image : words.no_code);
    },
    stop: () => {
      document.removeEventListener("keydown", onKey, true);
      cancelAnimationFrame(counting);
      show.remove();
    },
  };
};
