// Counts words and characters while typing, since the text may be too short, and takes a file that is dropped on the form.
const form = document.querySelector("form.paste");
const field = document.getElementById("text");
const count = document.querySelector("[data-count]");
const file = form.querySelector("[type=file]");
const chosen = form.querySelector("[data-chosen]");

function showCount() {
  const words = field.value.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  const characters = field.value.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const of = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  count.textContent = words ? `${of(words, "word")}, ${characters.toLocaleString("en")} letters and digits. ` : "";
}
field.addEventListener("input", showCount);
showCount();

function size(bytes) {
  const [divisor, unit] = bytes < 1e3 ? [1, bytes === 1 ? "byte" : "bytes"] : bytes < 1e6 ? [1e3, "kB"] : [1e6, "MB"];
  return `${(bytes / divisor).toLocaleString("en", { maximumFractionDigits: divisor === 1 ? 0 : 1 })} ${unit}`;
}
function showFile() {
  const [one] = file.files;
  chosen.textContent = one ? `${one.name}, ${size(one.size)}. The file is used instead of the text above. ` : "";
  if (!one) return;
  const remove = document.createElement("button");
  Object.assign(remove, { type: "button", className: "plain", textContent: "Remove file" });
  remove.addEventListener("click", () => {
    file.value = "";
    showFile();
    file.focus();
  });
  chosen.append(remove);
}
file.addEventListener("change", showFile);
addEventListener("pageshow", showFile); // Back restores the file

// Dragging over a field leaves the form and enters it again: count how many of its elements the file is over.
let over = 0;
const hasFile = (event) => event.dataTransfer?.types.includes("Files");
function drag(change) {
  over = change ? over + change : 0;
  form.classList.toggle("dropping", over > 0);
}
form.addEventListener("dragenter", (event) => hasFile(event) && (event.preventDefault(), drag(1)));
form.addEventListener("dragleave", (event) => hasFile(event) && drag(-1));
// Beside the form, a browser would leave this page and open the file.
addEventListener("dragover", (event) => hasFile(event) && event.preventDefault());
addEventListener("drop", (event) => {
  if (!hasFile(event)) return;
  event.preventDefault();
  drag(0);
  if (!form.contains(event.target) || !event.dataTransfer.files.length) return;
  const one = new DataTransfer();
  one.items.add(event.dataTransfer.files[0]);
  file.files = one.files;
  showFile();
});
