// All screens work without this file. It adds keyboard shortcuts, live forms, and a notice while a page loads.
"use strict";

const typing = (event) =>
  event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]");
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

// --- forms: a slider shows its value, and submits the form when it is released -----------------------------------------
for (const input of document.querySelectorAll("[data-submit]")) {
  const output = input.parentElement.querySelector("output");
  if (output) input.addEventListener("input", () => (output.value = input.value + (output.dataset.unit ?? " %")));
  input.addEventListener("change", () => input.form.requestSubmit());
}
// Empty fields are left out of the address.
addEventListener("submit", (event) => {
  if (event.target.method !== "get") return;
  for (const field of event.target.querySelectorAll("input[name]")) if (!field.value) field.disabled = true;
});
// After Back, the form shows the request of this address, not the one that was submitted from here.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[method=get]")) {
    form.reset();
    for (const field of form.querySelectorAll("input:disabled")) field.disabled = false;
  }
});
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
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
  ["c", "compare with its first near-duplicate", () => item()?.querySelector("[data-compare]")?.click()],
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
const items = () => [...document.querySelectorAll("[data-items] > *")].filter(isVisible);
const item = () => document.querySelector("[data-items] > .on");
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
  const group = item()?.querySelector("details");
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
