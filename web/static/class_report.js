// The report of a set of documents: sorts and filters the pairs, moves the threshold, and steps through passages.
// Without it everything is there, in the order of the file.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const key = (text) => text.split(" ").map(Number).sort((a, b) => a - b).join(" ");

// --- all pairs: threshold, names, order --------------------------------------------------------------------------------
const table = document.querySelector(".pair-list tbody");
if (table) {
  const ROWS_AT_ONCE = 200;
  const rows = all("tr", table);
  const values = new Map(rows.map((row) => [key(row.dataset.pair), Number(row.dataset.value)]));
  const names = new Map(rows.map((row) => [row, `${row.cells[1].textContent}\n${row.cells[2].textContent}`.toLowerCase()]));
  const slider = document.querySelector("[data-slider]");
  const output = slider.parentElement.querySelector("output");
  const filter = document.querySelector("[data-filter]");
  const more = document.querySelector("[data-more]");
  const isShare = output.dataset.unit === " %";
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  let limit = ROWS_AT_ONCE;

  // The slider has whole per cent; at its lowest value every pair is shown.
  const threshold = () => (slider.value === slider.min ? -1 : Number(slider.value) / (isShare ? 100 : 1) - 1e-9);
  function list() {
    const lowest = threshold();
    const text = filter.value.trim().toLowerCase();
    let found = 0;
    for (const row of table.rows) {
      const fits = Number(row.dataset.value) >= lowest && names.get(row).includes(text);
      row.hidden = !fits || ++found > limit;
    }
    more.hidden = found <= limit;
    more.textContent = `Show all ${found.toLocaleString("en")} pairs`;
  }
  function draw() {
    const lowest = threshold();
    const root = new Map();
    const find = (number) => (root.get(number) === number ? number : find(root.get(number)));
    let pairs = 0;
    for (const [pair, value] of values) {
      if (value < lowest) continue;
      pairs += 1;
      const [a, b] = pair.split(" ");
      for (const each of [a, b]) if (!root.has(each)) root.set(each, each);
      root.set(find(a), find(b));
    }
    const groups = new Set([...root.keys()].map(find)).size;
    document.querySelector("[data-status]").textContent =
      `${count(pairs, "pair")}; ${count(root.size, "document")} in ${count(groups, "group")}`;
    document.querySelector("[data-groups]").textContent = count(groups, "group");
    output.textContent = Number(slider.value).toLocaleString("en") + output.dataset.unit;
    for (const path of all("path[data-pair]")) path.toggleAttribute("hidden", values.get(key(path.dataset.pair)) < lowest);
    for (const cell of all("td[data-pair]")) cell.classList.toggle("below", values.get(key(cell.dataset.pair)) < lowest);
    for (const node of all(".graph [data-number]")) node.classList.toggle("alone", !root.has(node.dataset.number));
    for (const name of all("li[data-number]")) name.hidden = !root.has(name.dataset.number);
    for (const group of all(".group")) group.hidden = !group.dataset.members.split(" ").some((number) => root.has(number));
    const line = document.querySelector(".chart .law");
    if (!line) return;
    const { left, right } = line.closest("figure").dataset;
    const x = Number(left) + (Number(right) - Number(left)) * (Number(slider.value) / 100);
    line.setAttribute("transform", `translate(${x - Number(/^M([\d.]+)/.exec(line.getAttribute("d"))[1])})`);
    for (const bar of all(".chart .found, .chart .below")) {
      const found = Number(bar.getAttribute("x")) >= x - 0.1;
      bar.classList.toggle("found", found);
      bar.classList.toggle("below", !found);
    }
  }
  function sort(heading) {
    const column = Number(heading.dataset.sort);
    const numbers = column === 0 || column > 2;
    const before = heading.getAttribute("aria-sort");
    const order = before ? (before === "ascending" ? "descending" : "ascending") : column > 2 ? "descending" : "ascending";
    for (const each of all("[data-sort]")) each.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
    const value = (row) => (numbers ? Number(row.cells[column].dataset.v ?? row.cells[column].textContent) : row.cells[column].querySelector("bdi").textContent);
    const sign = order === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => [value(row), row]);
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    keyed.sort(([a], [b]) => sign * (numbers ? a - b : compare(a, b)));
    table.append(...keyed.map(([, row]) => row));
    list();
  }
  for (const heading of all("[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(heading));
    heading.append(button);
  }
  slider.addEventListener("input", () => (list(), draw()));
  filter.addEventListener("input", list);
  document.querySelector("[data-clear]").addEventListener("click", () => {
    filter.value = "";
    slider.value = slider.min;
    list();
    draw();
  });
  more.addEventListener("click", () => ((limit = Infinity), list()));
  // A document in a graph lists its pairs.
  for (const node of all(".graph a[data-number]")) {
    node.addEventListener("click", () => {
      filter.value = node.querySelector("title").textContent.replace(/^\d+: /, "");
      list();
    });
  }
  for (const form of all("[data-controls]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  list();
  draw();
}

// --- one pair: both sides of a passage are brought into view ------------------------------------------------------------
const anchor = (hash) => /^#x(\d+)[ab](\d+)$/.exec(hash);
const current = new Map(); // the number of the passage, by view
function go(view, number, from = null) {
  const rank = view.id.slice("pair-".length);
  const sides = ["a", "b"].map((letter) => document.getElementById(`x${rank}${letter}${number}`));
  if (!sides[0] || !sides[1]) return;
  current.set(view, number);
  for (const element of all(".on", view)) element.classList.remove("on");
  for (const element of all(`.p${number}`, view)) element.classList.add("on");
  for (const side of sides) for (let box = side; box !== view; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
  const panes = all(".pane", view);
  if (getComputedStyle(panes[0]).overflowY === "auto") {
    const top = Math.max(...panes.map((pane) => pane.querySelector(".head").getBoundingClientRect().bottom));
    const below = (side) => side.getBoundingClientRect().top - top;
    // A quarter down, or higher if one passage is so near the beginning that it cannot scroll that far.
    const quarter = (panes[0].getBoundingClientRect().bottom - top) / 4;
    const wanted = Math.max(Math.min(quarter, ...sides.map((side, at) => below(side) + panes[at].scrollTop)), 0);
    sides.forEach((side, at) => (panes[at].scrollTop += below(side) - wanted));
    view.scrollIntoView({ block: "nearest" });
  } else if (from !== "") sides[from === "a" ? 1 : 0].scrollIntoView({ block: "center" });
  const total = all("a.chip", view).length;
  for (const status of all("[role=status]", view)) status.textContent = `Passage ${number} of ${total.toLocaleString("en")}`;
}
const step = (view, by) => {
  const total = all("a.chip", view).length;
  go(view, ((current.get(view) ?? (by > 0 ? 0 : 1)) - 1 + by + total) % total + 1);
};
const shown = () => all(".pair").find((view) => view.offsetParent !== null || view.getClientRects().length);
function open() {
  const view = shown();
  if (!view) return;
  const target = anchor(location.hash);
  if (target) go(view, Number(target[2]));
  else {
    scrollTo(0, 0);
    go(view, 1, ""); // where the texts are below each other, the view begins with its heading
  }
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#x']");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const target = anchor(link.getAttribute("href"));
  const view = link.closest(".pair");
  if (!target || !view) return;
  event.preventDefault();
  go(view, Number(target[2]), /^x\d+a/.test(link.id) ? "a" : /^x\d+b/.test(link.id) ? "b" : null);
  history.replaceState(history.state, "", `#x${target[1]}a${target[2]}`);
});
for (const button of all("[data-step]")) button.addEventListener("click", () => step(button.closest(".pair"), Number(button.dataset.step)));
for (const steps of all("[data-steps]")) steps.hidden = false;
document.addEventListener("keydown", (event) => {
  const view = shown();
  if (!view || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  if (event.key === "n") step(view, 1);
  if (event.key === "p") step(view, -1);
});
addEventListener("hashchange", open);
addEventListener("load", open); // after the browser has scrolled by itself
