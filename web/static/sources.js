// Steps through the coloured parts of a text, and shows the source of a part and the parts of a source.
// Without it, the numbers are links from one to the other.
const view = document.querySelector("[data-parts]");
const anchors = [...document.querySelectorAll(".text .n[id^=p]")];
const sources = anchors.map((anchor) => anchor.hash.slice(1));
const status = document.querySelector("[data-steps] [role=status]");
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let current = -1;

// Scrolls the pane of an element, or the page where panes do not scroll.
function show(element) {
  const pane = element.closest(".pane, .quoting");
  for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const scrolls = pane && getComputedStyle(pane).overflowY === "auto";
  if (!scrolls) return element.scrollIntoView({ block: "center", behavior: calm.matches ? "instant" : "auto" });
  const [box, inner] = [pane.getBoundingClientRect(), element.getBoundingClientRect()];
  const head = pane.querySelector(".head")?.offsetHeight ?? 0;
  if (inner.top < box.top + head || inner.bottom > box.bottom) pane.scrollTop += inner.top - box.top - head - (box.height - head) / 4;
}
function go(index, { to = "both", write = true } = {}) {
  current = index;
  const source = document.getElementById(sources[index]);
  for (const element of view.querySelectorAll(".on")) element.classList.remove("on");
  for (const element of view.getElementsByClassName(anchors[index].id)) element.classList.add("on");
  source?.classList.add("on");
  if (to !== "text" && source && (to === "source" || source.closest(".quoting"))) show(source);
  if (to !== "source") show(anchors[index]);
  const number = Number(view.dataset.first) + index;
  status.textContent = `Segment ${number.toLocaleString("en")} of ${Number(view.dataset.parts).toLocaleString("en")}`;
  if (write) history.replaceState(history.state, "", `#${anchors[index].id}`);
}
const isPlain = (event) => !event.button && !event.ctrlKey && !event.metaKey && !event.shiftKey;
addEventListener("click", (event) => {
  if (!isPlain(event)) return;
  const mark = event.target.closest(".text mark");
  const badge = event.target.closest(".badge[href^='#p']");
  if (mark && getSelection().isCollapsed) {
    const index = anchors.findIndex((anchor) => mark.classList.contains(anchor.id));
    if (index < 0) return;
    event.preventDefault();
    go(index, { to: "source" });
  } else if (badge) {
    // Each click leads to the next part of the source.
    const source = sources[anchors.findIndex((anchor) => `#${anchor.id}` === badge.hash)];
    const next = sources.indexOf(source, current >= 0 && sources[current] === source ? current + 1 : 0);
    event.preventDefault();
    go(next < 0 ? sources.indexOf(source) : next, { to: "text" });
  }
});
function step(by) {
  if (!anchors.length) return;
  const next = current < 0 ? (by > 0 ? 0 : anchors.length - 1) : current + by;
  go((next + anchors.length) % anchors.length);
}
addEventListener("passage", (event) => step(event.detail));
for (const button of document.querySelectorAll("[data-step]")) button.addEventListener("click", () => step(Number(button.dataset.step)));
function restore() {
  const index = anchors.findIndex((anchor) => `#${anchor.id}` === location.hash);
  if (index >= 0) go(index, { write: false });
}
addEventListener("hashchange", restore);
const steps = document.querySelector("[data-steps]");
if (steps && anchors.length) steps.hidden = false;
restore();
addEventListener("load", restore); // after the browser has scrolled to the address by itself
