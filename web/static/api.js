// Runs the examples of the API in the page. Without this file, a form or link opens the JSON itself.
const MAX_SHOWN = 200_000; // characters of an answer: more makes the page slow
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function addressOf(form) {
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const field of form.querySelectorAll("[data-location]")) {
    const value = field.value.trim();
    if (field.dataset.location === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    else if (value) query.set(field.name, value);
  }
  return path + (query.size ? `?${query}` : "");
}

function bodyOf(form) {
  return form.method === "post" ? JSON.stringify({ text: form.elements.text.value }) : undefined;
}

function showCommand(form) {
  const address = addressOf(form);
  const link = form.querySelector("[data-address]");
  if (link) link.href = address;
  const code = form.querySelector("[data-curl]");
  const body = bodyOf(form);
  const sent = body === undefined ? "" : ` \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}`;
  code.textContent = code.dataset.curl + quoted(location.origin + address) + sent;
}

async function run(form) {
  const reply = form.nextElementSibling ?? form.parentElement.appendChild(newReply());
  const [told, shown] = reply.children;
  told.textContent = "Running …";
  shown.hidden = true;
  const start = performance.now();
  try {
    const body = bodyOf(form);
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    const response = await fetch(addressOf(form), { method: form.method.toUpperCase(), headers, body });
    const text = await response.text();
    const milliseconds = Math.round(performance.now() - start);
    const bytes = new TextEncoder().encode(text).length;
    told.textContent = `${response.status} ${response.statusText} · ${milliseconds.toLocaleString("en")} ms · ${bytes.toLocaleString("en")} bytes`;
    shown.textContent = pretty(text);
    shown.hidden = false;
  } catch (error) {
    told.textContent = `The server does not answer: ${error.message}`;
  }
}

function pretty(text) {
  let formatted = text;
  try {
    formatted = JSON.stringify(JSON.parse(text), null, 2);
  } catch {} // not JSON: shown as it is
  if (formatted.length <= MAX_SHOWN) return formatted;
  return `${formatted.slice(0, MAX_SHOWN)}\n… ${(formatted.length - MAX_SHOWN).toLocaleString("en")} more characters`;
}

function newReply() {
  const reply = document.createElement("div");
  reply.className = "reply";
  const told = document.createElement("p");
  told.setAttribute("role", "status");
  const shown = document.createElement("pre");
  shown.tabIndex = 0;
  shown.setAttribute("aria-label", "The answer");
  reply.append(told, shown);
  return reply;
}

for (const form of document.querySelectorAll("form[data-path]")) {
  for (const field of form.querySelectorAll(":disabled")) field.disabled = false;
  const code = form.querySelector("[data-curl]");
  code.dataset.curl = code.textContent.slice(0, code.textContent.indexOf("'")); // curl, and the header of the token
  if (!code.textContent.includes(location.origin)) showCommand(form); // a proxy has another name for this server
  form.addEventListener("input", () => showCommand(form));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation(); // the page stays: nothing is loading
    run(form);
  });
}
