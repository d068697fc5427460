// Offers a way back to the page that was left, where its form still has what was typed.
const button = document.querySelector("[data-back]");
button.hidden = history.length < 2;
button.addEventListener("click", () => history.back());
