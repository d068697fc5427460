// Counts what is typed: it may be too short to be found.
const field = document.getElementById("text");
const count = document.querySelector("[data-count]");
function tell() {
  const words = field.value.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  const characters = field.value.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const of = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  count.textContent = words ? `${of(words, "word")}, ${of(characters, "character")}. ` : "";
}
field.addEventListener("input", tell);
tell();
