// All screens work without this file. It adds keyboard shortcuts, live forms, and a notice while a page loads.
"use strict";

const TYPED_INTO = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]";
const typing = (event) => event.ctrlKey || event.metaKey || event.altKey || event.target.closest(TYPED_INTO);
const isVisible = (element) => element.getClientRects().length > 0;

// --- loading: the old page stays, and after 300 ms a notice says that the next one is coming ---------------------------
let waiting = [];
function wait() {
  done();
  const busy = document.querySelector(".busy");
  const start = performance.now();
  const notify = () => {
    document.querySelector("main").setAttribute("aria-busy", "true");
    busy.hidden = false;
    busy.textContent = `Loading: ${Math.round((performance.now() - start) / 1000)} s`;
  };
  waiting = [setTimeout(notify, 300), setInterval(notify, 1000)];
}
function done() {
  waiting.forEach(clearTimeout);
  document.querySelector("main").removeAttribute("aria-busy");
  document.querySelector(".busy").hidden = true;
}
addEventListener("pageshow", done);
addEventListener("submit", (event) => event.defaultPrevented || wait());
addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const stays = !link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey;
  if (stays || link.origin !== location.origin || /\.(json|csv)$/.test(link.pathname)) return;
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
  wait();
});

// --- forms: a slider shows its value; the form is sent by its button ---------------------------------------------------
for (const input of document.querySelectorAll("[data-shown]")) {
  const output = input.parentElement.querySelector("output");
  const shown = () => (input.max === "1" ? `${Math.round(100 * input.value)} %` : input.value + (output.dataset.unit ?? " %"));
  input.addEventListener("input", () => (output.value = shown()));
}
// Empty fields are left out of the address.
addEventListener("submit", (event) => {
  if (event.target.method !== "get") return;
  for (const field of event.target.elements) if (field.name && !field.value) field.disabled = true;
  const isOurs = event.target === box || new URL(event.target.action).pathname === location.pathname;
  if (isOurs) history.replaceState({ sent: [...document.forms].indexOf(event.target) }, "");
});
// After Back, a form shows the request of this address, not the one that was sent from here: the history remembers which
// form that was. All else stays: what was typed and not sent, perhaps before this file arrived, and pages to compare.
addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("form [name]:disabled, [form]:disabled")) field.disabled = false;
  document.forms[history.state?.sent]?.reset();
  if (history.state?.sent !== undefined) history.replaceState(null, "");
});
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

// --- the search box: a long text is sent as a form, and pages are suggested while typing --------------------------------
const MAX_QUERY = 1500; // characters; a longer text does not fit into an address
const box = document.querySelector("[data-box]");
box?.addEventListener("submit", () => {
  const field = box.elements.q;
  const long = field.value.length > MAX_QUERY;
  Object.assign(box, long ? { method: "post", action: "/paste" } : { method: "get", action: "/search" });
  field.name = long ? "text" : "q";
});
if (box) suggestPages(box, box.elements.q);
function suggestPages(form, field) {
  const list = document.createElement("ul");
  list.id = "suggestions";
  list.className = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggested pages");
  form.append(list);
  for (const [name, value] of [["role", "combobox"], ["aria-controls", list.id], ["aria-expanded", "false"], ["aria-autocomplete", "list"]])
    field.setAttribute(name, value);
  let timer = 0;
  let asked = "";
  const chosen = () => list.querySelector("[aria-selected=true]");
  const show = (open) => {
    list.hidden = !open;
    field.setAttribute("aria-expanded", open);
    if (!open) field.removeAttribute("aria-activedescendant");
  };
  const choose = (option) => {
    chosen()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
  };
  const open = (option) => (wait(), location.assign(`/page/${option.dataset.id}`));
  const ask = async () => {
    const typed = (asked = field.value.trim());
    if (typed.length < 2 || typed.length > 100) return show(false);
    const response = await fetch(`/api/v1/suggest?${new URLSearchParams({ q: typed })}`).catch(() => null);
    if (!response?.ok || asked !== typed || document.activeElement !== field) return;
    const { suggestions } = await response.json();
    list.replaceChildren(...suggestions.map(suggestion));
    show(suggestions.length > 0);
  };
  const suggestion = ({ id, url, title }, at) => {
    const option = Object.assign(document.createElement("li"), { id: `suggestion-${at}` });
    option.dataset.id = id;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    const name = document.createElement("bdi");
    name.textContent = title?.trim() || "(no title)";
    const address = document.createElement("small");
    address.textContent = url;
    option.append(name, address);
    option.addEventListener("pointerdown", (event) => (event.preventDefault(), open(option)));
    return option;
  };
  field.addEventListener("input", () => (clearTimeout(timer), (timer = setTimeout(ask, 150))));
  field.addEventListener("blur", () => show(false));
  field.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const options = [...list.children];
    const at = options.indexOf(chosen());
    if (event.key === "ArrowDown") choose(options[at + 1] ?? null);
    else if (event.key === "ArrowUp") choose(at < 0 ? options.at(-1) : options[at - 1] ?? null);
    else if (event.key === "Enter" && chosen()) open(chosen());
    else if (event.key === "Escape") show(false);
    else return;
    event.preventDefault();
  });
  form.addEventListener("submit", () => show(false));
}

// --- while something is counted or clustered, the parts of the screen that change are loaded again ----------------------
const LIVE_PAUSE = 1500; // milliseconds
if (document.body.hasAttribute("data-live")) setTimeout(updateParts, LIVE_PAUSE);
async function updateParts() {
  const response = await fetch(location.href).catch(() => null);
  const next = response?.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : null;
  const isDone = next && !next.body.hasAttribute("data-live");
  if (isDone && !box?.elements[0].value) return location.reload(); // nobody is typing
  for (const part of next ? document.querySelectorAll("[data-part]") : []) {
    const other = next.querySelector(`[data-part="${part.dataset.part}"]`);
    if (other && (isDone || !part.contains(document.activeElement))) part.replaceWith(document.adoptNode(other));
  }
  if (!isDone) setTimeout(updateParts, LIVE_PAUSE);
}

// --- search results: what differs in a group, and two ticked pages ------------------------------------------------------
for (const group of document.querySelectorAll("details[data-of]")) group.addEventListener("toggle", () => showDifferences(group), { once: true });
async function showDifferences(group) {
  const rows = [...group.querySelectorAll("[data-id]")];
  const others = rows.map((row) => row.dataset.id).join(",");
  const response = await fetch(`/api/v1/pages/${group.dataset.of}/differences?${new URLSearchParams({ others })}`).catch(() => null);
  if (!response?.ok) return;
  const { differences } = await response.json();
  const words = new Map(differences.map((each) => [each.id, each]));
  const legend = Object.assign(document.createElement("p"), { className: "quiet", textContent: "+ only there, − only on the page above" });
  if (differences.some(({ removed, added }) => removed || added)) group.querySelector("ul").before(legend);
  for (const row of rows) {
    const { removed, added } = words.get(row.dataset.id) ?? {};
    const line = Object.assign(document.createElement("p"), { className: "differs" });
    for (const [tag, sign, text] of [["ins", "+", added], ["del", "−", removed]])
      if (text) line.append(Object.assign(document.createElement(tag), { textContent: `${sign} ${text}` }), " ");
    if (line.childNodes.length) row.querySelector(".facts").before(line);
  }
}
const pick = document.querySelector("[data-pick]");
if (pick) {
  const boxes = [...pick.elements].filter((each) => each.type === "checkbox");
  const button = pick.querySelector("button");
  let ticked = boxes.filter((each) => each.checked);
  const update = () => {
    button.disabled = ticked.length !== 2;
    pick.classList.toggle("some", ticked.length > 0);
    const names = ticked.map((each) => each.closest("li").querySelector("a").textContent.trim());
    const said = ["Tick two pages to compare them.", `Tick one more, to compare it with ${names[0]}`, names.join(" and ")];
    pick.querySelector("[role=status]").textContent = said[ticked.length];
  };
  for (const each of boxes)
    each.addEventListener("change", () => {
      ticked = each.checked ? [...ticked, each] : ticked.filter((other) => other !== each);
      if (ticked.length > 2) ticked.shift().checked = false;
      update();
    });
  // After Back, the browser has restored the ticks, or this page as it was.
  addEventListener("pageshow", () => ((ticked = boxes.filter((each) => each.checked).slice(0, 2)), update()));
}

// --- keyboard shortcuts: each does what a visible control does too -----------------------------------------------------
const OFF = "winnow-keys-off";
const keysAreOff = () => localStorage.getItem(OFF) === "1";
const KEYS = [
  ["/", "search", () => focusOn("[data-key='/']")],
  ["j", "next item", () => step(1)],
  ["k", "previous item", () => step(-1)],
  ["o", "expand or collapse the group", () => toggle()],
  ["Enter", "open the page", (event) => event.target === document.body && item()?.querySelector("[data-open]")?.click()],
  ["c", "compare two ticked pages, or a page with its first near-duplicate", () => compareNow()],
  ["n", "next passage", () => passage(1)],
  ["p", "previous passage", () => passage(-1)],
  ["x", "swap A and B", () => click("[data-swap]")],
  ["d", "switch between passages and differences", () => click("[data-view]:not([aria-current])")],
  ["?", "show these shortcuts", () => showKeys()],
];
addEventListener("keydown", (event) => {
  if (typing(event) || (keysAreOff() && event.key !== "?")) return;
  const key = KEYS.find(([name]) => name === event.key);
  if (!key || key[2](event) === false) return;
  if (event.key !== "Enter") event.preventDefault();
});
function click(selector) {
  document.querySelector(selector)?.click();
}
function focusOn(selector) {
  const field = document.querySelector(selector);
  field?.focus();
  field?.select?.();
}
const items = () => [...document.querySelectorAll("[data-items] > *, [data-items] details[open] > ul > li")].filter(isVisible);
const item = () => document.querySelector("[data-items] .on:is([data-items] > *, li)");
function compareNow() {
  const button = document.querySelector("[data-pick] button:enabled");
  (button ?? (item() ?? document.querySelector(".matches"))?.querySelector("[data-compare]"))?.click();
}
function step(by) {
  const all = items();
  const at = all.indexOf(item());
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  if (!next) return;
  item()?.classList.remove("on");
  next.classList.add("on");
  next.querySelector("a")?.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}
function toggle() {
  const group = item()?.querySelector("details") ?? item()?.closest("details");
  if (group) group.open = !group.open;
}
const opener = document.querySelector("[data-keys]");
opener.hidden = false;
opener.addEventListener("click", () => showKeys());
function showKeys() {
  const dialog = document.createElement("dialog");
  const list = document.createElement("dl");
  for (const [name, about] of KEYS) {
    const key = document.createElement("kbd");
    key.textContent = name;
    const term = document.createElement("dt");
    term.append(key);
    const description = document.createElement("dd");
    description.textContent = about;
    list.append(term, description);
  }
  const heading = document.createElement("h2");
  heading.textContent = "Keyboard shortcuts";
  const off = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = !keysAreOff();
  box.addEventListener("change", () => localStorage.setItem(OFF, box.checked ? "0" : "1"));
  off.append(box, " Enable keyboard shortcuts");
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.setAttribute("aria-label", "Keyboard shortcuts");
  dialog.append(heading, list, off, document.createElement("p"), close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

// --- passages: see compare.js ------------------------------------------------------------------------------------------
function passage(by) {
  dispatchEvent(new CustomEvent("passage", { detail: by }));
}
