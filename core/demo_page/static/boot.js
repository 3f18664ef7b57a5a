/* Opens the slides of *data* in the page to hand out; ?present=1 and the guess of a link are read from the address. */
const opener = document.getElementById("present"), host = document.getElementById("slides");
const spoken = () => document.getElementById("zh").checked ? "zh" : "en";
const openShow = (guess) => {
  const language = spoken();
  const own = data.slides.filter((slide) => (slide.language === "zh") === (language === "zh"));
  const show = present(host, { ...data, language, guess, slides: own.length ? own : data.slides }, {
    leave: () => { show.stop(); opener.focus(); },
    link: (slide, chosen) => {
      const query = new URLSearchParams({ present: "1", lang: language, ...(chosen ? { guess: chosen } : {}) });
      return `${location.href.split(/[?#]/)[0]}?${query}`;
    },
  });
};
if (data.slides.length) {
  opener.hidden = false;
  opener.addEventListener("click", () => openShow(null));
  const asked = new URLSearchParams(location.search), language = asked.get("lang");
  if (language === "zh" || language === "en") document.getElementById(language).checked = true;
  if (asked.get("present") === "1") openShow(["male", "female"].includes(asked.get("guess")) ? asked.get("guess") : null);
}
