// The script of the documents: files that are dropped or chosen are sent one by one, and jobs are watched.
"use strict";

const shelf = find("#shelf");
const form = find("#add");
const words = form?.dataset;
const wait = (seconds) => new Promise((then) => setTimeout(then, seconds * 1000));

// part brings a part of the page up to date.
const part = (name) => htmx.ajax("GET", shelf.dataset.here + "&part=" + name, { target: "#" + name, swap: "outerMorph" });

async function watch() {
  while (find('#jobs[data-running="true"]')) {
    await wait(1);
    if (document.hidden) continue;
    await part("jobs");
    if (!find('#jobs[data-running="true"]')) await part("files");
  }
}
watch();

// The files to send, those that did not reach the server, and the rows of those without a problem.
const queue = { waiting: [], lost: [], fine: [], sending: 0, done: 0, bad: 0, all: 0 };

function add(file, name) {
  if (/(^|\/)\./.test(name)) return; // hidden files are no documents
  queue.all++;
  queue.waiting.push({ file, name });
}

// start sends the files that wait, four at a time.
async function start() {
  if (!queue.waiting.length) return;
  find("#queue").hidden = false;
  if (words.missing === "true") {
    await (queue.made ??= fetch("/api/collections/" + words.collection, { method: "PUT" }).catch(() => {})); // then each file says so
  }
  while (queue.sending < 4 && queue.waiting.length) transfer(queue.waiting.shift());
  sum();
}

// element makes an element of a row.
function element(kind, name, text) {
  const e = document.createElement(kind);
  e.className = name;
  e.textContent = text;
  return e;
}

async function transfer(upload) {
  queue.sending++;
  const { file, name } = upload;
  const line = upload.line = element("li", "", name + " ");
  const bar = element("progress", "", "");
  const state = element("span", "state", "");
  line.append(bar, " ", state);
  find(".uploads").prepend(line);
  const [status, reason] = file.size > words.limit * 1024 * 1024 ? ["refused", words.toolarge] : await outcome(upload, bar, state);
  bar.remove();
  state.textContent = words[status] || status;
  state.classList.add(status);
  if (reason) {
    line.append(document.createElement("br"), element("span", "warn reason", reason));
    line.className = "bad"; // it is shown first
  }
  queue.sending--;
  queue.done++;
  if (status !== "indexed") queue.bad++;
  else if (queue.fine.push(line) > 50) queue.fine.shift().remove();
  await start();
  sum();
}

// outcome sends a file until the server takes or refuses it. After five times a person has to try again.
async function outcome(upload, bar, state) {
  const path = upload.name.split("/").map(encodeURIComponent).join("/");
  for (let tries = 1; ; tries++) {
    const x = new XMLHttpRequest(); // fetch does not say how far it is
    x.open("PUT", "/api/documents/" + path + "?collection=" + encodeURIComponent(words.collection));
    x.upload.onprogress = (e) => { bar.max = e.total || 1; bar.value = e.loaded; };
    x.upload.onload = () => { bar.removeAttribute("value"); state.textContent = words.reading; };
    await new Promise((then) => { x.onload = x.onerror = then; x.send(upload.file); });
    if (![0, 429, 503].includes(x.status)) return result(x);
    if (tries === 5) {
      queue.lost.push(upload);
      return ["refused", x.statusText || words.offline];
    }
    state.textContent = words.waiting;
    await wait(Number(x.getResponseHeader("Retry-After")) || 2);
  }
}

// result is the status of a file and its reason, as the server says it.
function result(x) {
  let said = { error: x.status + " " + x.statusText };
  try { said = JSON.parse(x.responseText); } catch { /* it came from something before the server */ }
  if (said.error) return ["refused", { 413: words.toolarge, 415: words.kind }[x.status] ?? said.error];
  return [said.status === "indexed" && said.reason ? "partly" : said.status, said.reason];
}

// sum says how far all is, and at the end shows what came of it.
function sum() {
  const { text, bad } = find("#sum").dataset;
  find("#sum").textContent = text.replace("{done}", queue.done).replace("{all}", queue.all) + (queue.bad ? " · " + bad.replace("{bad}", queue.bad) : "");
  find("#again").hidden = !queue.lost.length;
  if (queue.done < queue.all) return;
  const here = new URLSearchParams(shelf.dataset.here.split("?")[1]).get("collection");
  if (here === words.collection) part("files");
  else find("#shelf-link").hidden = false;
}

function again() {
  for (const u of queue.lost) u.line.remove();
  queue.done -= queue.lost.length;
  queue.bad -= queue.lost.length;
  queue.waiting.push(...queue.lost.splice(0));
  start();
}

// walk adds what was dropped, folder by folder.
async function walk(entry) {
  if (entry.isFile) {
    const file = await new Promise((found) => entry.file(found, () => found(null)));
    if (file) add(file, entry.fullPath.slice(1));
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((found) => reader.readEntries(found, () => found([])));
    if (!some.length) return;
    await Promise.all(some.map(walk));
    start();
  }
}

if (form) {
  form.hidden = false;
  form.addEventListener("change", (e) => {
    for (const f of e.target.files) add(f, f.webkitRelativePath || f.name);
    e.target.value = "";
    start();
  });
  find("#again").addEventListener("click", again);
  const over = (e, is) => { if (e.dataTransfer?.types.includes("Files")) { e.preventDefault(); form.classList.toggle("over", is); } };
  addEventListener("dragover", (e) => over(e, true));
  addEventListener("dragleave", (e) => { if (!e.relatedTarget) over(e, false); });
  addEventListener("drop", async (e) => {
    over(e, false);
    for (const entry of [...(e.dataTransfer?.items || [])].map((i) => i.webkitGetAsEntry?.()).filter(Boolean)) {
      await walk(entry);
      start();
    }
  });
  addEventListener("beforeunload", (e) => { if (queue.done < queue.all) e.preventDefault(); });
}
