// Counts words and characters while typing: the text may be too short.
const field = document.getElementById("text");
const count = document.querySelector("[data-count]");
function showCount() {
  const words = field.value.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  const characters = field.value.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const of = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  count.textContent = words ? `${of(words, "word")}, ${of(characters, "character")}. ` : "";
}
field.addEventListener("input", showCount);
showCount();
