// The door of the component: called at every change of data or theme, so it starts a desk once and then refreshes it.

const DESKS = new WeakMap();

// Streamlit sets the colours of its theme; dark or light follows from how bright the paper is.
function themeOf(root) {
  const probe = element("span", { style: "color:var(--st-background-color, #fff)" });
  root.append(probe);
  const [red, green, blue] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  probe.remove();
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128 ? "dark" : "light";
}

function sameOwner(one, other) {
  return (
    ["database"].every((key) => one[key] === other[key]) &&
    one.project.uid === other.project.uid &&
    one.annotator.uid === other.annotator.uid
  );
}

export default function component({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("[data-testid=desk]");
  if (!root || !data) return undefined;
  root.dataset.theme = themeOf(root);
  let desk = DESKS.get(parentElement);
  if (desk && (desk.root !== root || !sameOwner(desk.data, data))) {
    desk.stop();
    desk = null;
  }
  if (desk) desk.refresh(data);
  else {
    desk = data.project.kind === "generations" ? new GenerationDesk(data, root) : new Desk(data, root);
    DESKS.set(parentElement, desk);
  }
  desk.askPage = () => setTriggerValue("sign_in", Date.now());
  return () => {
    desk.stop();
    DESKS.delete(parentElement);
  };
}
