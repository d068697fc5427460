// Steps through the passages of two texts and brings both sides of a passage into view. Without it, links show one side.
const view = document.querySelector("[data-passages]");
const panes = [...document.querySelectorAll(".pane")];
const anchors = [...document.querySelectorAll(".n[id^=p], .chip[id^=p]")];
const numbers = anchors.map((anchor) => Number(anchor.id.slice(1)));
const status = document.querySelector("[data-steps] [role=status]");
const known = (hash) => numbers.indexOf(Number(/^#[pbr](\d+)$/.exec(hash)?.[1] ?? NaN));
let current = -1;
let side = "p"; // the text in view, where one is below the other: p is A, b is B

// --- one passage: outlined everywhere, and aligned side by side where each text scrolls by itself ----------------------
function go(index, { from = null, write = true } = {}) {
  const number = numbers[index];
  for (const element of document.querySelectorAll(".on")) element.classList.remove("on");
  for (const element of document.getElementsByClassName(`p${number}`)) element.classList.add("on");
  current = index;
  const sides = [document.getElementById(`p${number}`), document.getElementById(`b${number}`)];
  if (panes.some(scrolls)) {
    align(sides);
    // Bring all of the comparison into view if the browser window has room for it, or else the texts.
    for (const each of [document.querySelector(".stage"), view]) each?.scrollIntoView({ block: "nearest" });
  } else {
    // The texts are stacked: scroll from the side that was clicked to the other side.
    side = from === "p" && sides[1] ? "b" : "p";
    sides[side === "b" ? 1 : 0].scrollIntoView({ block: "center" });
  }
  const first = Number(view.dataset.first);
  status.textContent = `Passage ${(first + index).toLocaleString("en")} of ${Number(view.dataset.passages).toLocaleString("en")}`;
  for (const option of document.querySelectorAll("[data-passage] option")) option.selected = Number(option.dataset.number) === number;
  if (write) history.replaceState(history.state, "", `#p${number}`);
}
const scrolls = (pane) => getComputedStyle(pane).overflowY === "auto";
function align(sides) {
  const shown = sides.flatMap((side, at) => (side ? [{ side, pane: panes[at] }] : []));
  // The sticky headings hide the text behind them: below the lower one, both texts are visible.
  const top = Math.max(...panes.map((pane) => pane.querySelector(".head").getBoundingClientRect().bottom));
  const below = ({ side }) => side.getBoundingClientRect().top - top;
  // A quarter down, or higher if one passage is so near the beginning of its text that it cannot scroll that far.
  const quarter = (panes[0].getBoundingClientRect().bottom - top) / 4;
  const wanted = Math.max(Math.min(quarter, ...shown.map((each) => below(each) + each.pane.scrollTop)), 0);
  for (const each of shown) each.pane.scrollTop += below(each) - wanted;
}

// --- navigation --------------------------------------------------------------------------------------------------------
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const index = known(link.getAttribute("href"));
  if (index < 0) return;
  event.preventDefault();
  go(index, { from: link.id?.[0] ?? null });
});
addEventListener("passage", (event) => step(event.detail));
for (const button of document.querySelectorAll("[data-step]")) button.addEventListener("click", () => step(Number(button.dataset.step)));
document.querySelector("[data-other]")?.addEventListener("click", () => go(Math.max(current, 0), { from: side }));
function step(by) {
  if (!numbers.length) return;
  const next = current < 0 ? (by > 0 ? 0 : numbers.length - 1) : current + by;
  if (next >= 0 && next < numbers.length) go(next);
  else if (view.dataset.after) location.assign(by > 0 ? view.dataset.after : view.dataset.before);
  else go((next + numbers.length) % numbers.length);
}
function restore() {
  const index = known(location.hash);
  if (index >= 0) go(index, { write: false });
}
addEventListener("hashchange", restore);

// --- the ribbon map: marks which part of each text is in view ----------------------------------------------------------
const map = document.querySelector(".ribbons");
function offsetAt(pane, y) {
  const box = pane.getBoundingClientRect();
  const block = document.elementFromPoint(box.left + box.width / 2, y)?.closest(".block");
  if (!block || !pane.contains(block)) return null;
  const { top, height } = block.getBoundingClientRect();
  const start = Number(block.dataset.at);
  return start + block.textContent.length * Math.min(Math.max((y - top) / height, 0), 1);
}
function look() {
  const lengths = view.dataset.lengths.split(" ").map(Number);
  panes.forEach((pane, at) => {
    const box = pane.getBoundingClientRect();
    const head = pane.querySelector(".head").getBoundingClientRect();
    const top = offsetAt(pane, Math.max(head.bottom, 0) + 12) ?? 0;
    const bottom = offsetAt(pane, Math.min(box.bottom, innerHeight) - 4) ?? lengths[at];
    map.children[`seen-${at}`]?.remove();
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const height = Math.max((1000 * (bottom - top)) / lengths[at], 4);
    for (const [name, value] of Object.entries({ id: `seen-${at}`, class: "seen", x: at ? 96 : 0, width: 4, y: (1000 * top) / lengths[at], height }))
      rect.setAttribute(name, value);
    map.append(rect);
  });
}
let looking = 0;
if (map && panes.some(scrolls)) {
  const soon = () => (looking ||= requestAnimationFrame(() => ((looking = 0), look())));
  panes.forEach((pane) => pane.addEventListener("scroll", soon, { passive: true }));
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon);
  soon();
}
const steps = document.querySelector("[data-steps]");
if (steps && numbers.length) steps.hidden = false;
restore();
addEventListener("load", restore); // after the browser has scrolled to the address by itself
