// The script of the documents: files that are dropped or chosen are sent one by one, and jobs are watched.
"use strict";

const shelf = find("#shelf");

// part brings a part of the page up to date.
const part = (name) => htmx.ajax("GET", shelf.dataset.here + "&part=" + name, { target: "#" + name, swap: "outerMorph" });

async function watch() {
  while (find('#jobs[data-running="true"]')) {
    await new Promise((then) => setTimeout(then, 1000));
    if (document.hidden) continue;
    await part("jobs");
    if (!find('#jobs[data-running="true"]')) await part("files");
  }
}
watch();

const form = find("#add");

class Upload {
  constructor(file, name) {
    this.file = file;
    this.name = name;
    this.tries = 0;
  }

  // row is the line of the file, which is made when its turn comes.
  row() {
    this.line = document.createElement("li");
    this.bar = document.createElement("progress");
    this.state = document.createElement("span");
    this.state.className = "state";
    this.line.append(this.name, " ", this.bar, " ", this.state);
    find(".uploads").prepend(this.line);
  }

  send() {
    if (!this.line) this.row();
    const words = form.dataset;
    if (this.file.size > words.limit * 1024 * 1024) return this.end("refused", words.toolarge);
    let path;
    try {
      path = this.name.split("/").map(encodeURIComponent).join("/");
    } catch {
      return this.end("refused", this.name);
    }
    const x = new XMLHttpRequest();
    x.open("PUT", "/api/documents/" + path + "?collection=" + encodeURIComponent(words.collection));
    x.upload.onprogress = (e) => { this.bar.max = e.total || 1; this.bar.value = e.loaded; };
    x.upload.onload = () => { this.bar.removeAttribute("value"); this.state.textContent = words.reading; };
    x.onerror = () => this.later(2, words.offline);
    x.onload = () => {
      if (x.status === 429 || x.status === 503) return this.later(Number(x.getResponseHeader("Retry-After")) || 2, x.statusText);
      let said = {};
      try { said = JSON.parse(x.responseText); } catch { said = { error: x.status + " " + x.statusText }; }
      if (said.error) return this.end("refused", said.error);
      this.end(said.status === "indexed" && said.reason ? "partly" : said.status, said.reason);
    };
    x.send(this.file);
  }

  // later tries again. After some times a person has to.
  later(seconds, why) {
    if (++this.tries < 5) {
      this.state.textContent = form.dataset.waiting;
      setTimeout(() => this.send(), seconds * 1000);
      return;
    }
    queue.lost.push(this);
    this.end("refused", why);
  }

  end(status, reason) {
    this.bar.remove();
    this.state.textContent = form.dataset[status] || status;
    this.state.className = "state " + status;
    if (reason) {
      const why = document.createElement("span");
      why.className = "warn reason";
      why.textContent = reason;
      this.line.append(document.createElement("br"), why);
      this.line.className = "bad"; // it is shown first
    }
    queue.ended(this, status !== "indexed");
  }
}

const queue = {
  waiting: [], lost: [], fine: [],
  sending: 0, done: 0, bad: 0, all: 0,

  add(file, name) {
    if (/(^|\/)\./.test(name)) return; // hidden files are no documents
    this.all++;
    this.waiting.push(new Upload(file, name));
  },

  async start() {
    if (!this.waiting.length) return;
    find("#queue").hidden = false;
    if (form.dataset.missing === "true") {
      this.made ??= fetch("/api/collections/" + form.dataset.collection, { method: "PUT" }).catch(() => {}); // then each file says so
      await this.made;
    }
    while (this.sending < 4 && this.waiting.length) {
      this.sending++;
      this.waiting.shift().send();
    }
    this.tell();
  },

  ended(upload, bad) {
    this.sending--;
    this.done++;
    if (bad) this.bad++;
    else if (this.fine.push(upload.line) > 50) this.fine.shift().remove();
    this.start();
    this.tell();
  },

  tell() {
    this.timer ??= setTimeout(() => { this.timer = null; this.sum(); }, 200);
  },

  // sum says how far all is, and at the end shows what came of it.
  sum() {
    const { text, bad } = find("#sum").dataset;
    find("#sum").textContent = text.replace("{done}", this.done).replace("{all}", this.all) + (this.bad ? " · " + bad.replace("{bad}", this.bad) : "");
    if (this.done < this.all) return;
    find("#again").hidden = !this.lost.length;
    const here = new URLSearchParams(shelf.dataset.here.split("?")[1]).get("collection");
    if (here === form.dataset.collection) part("files");
    else find("#shelf-link").hidden = false;
  },

  again() {
    this.waiting.push(...this.lost);
    this.done -= this.lost.length;
    this.bad -= this.lost.length;
    for (const u of this.lost.splice(0)) {
      u.line.remove();
      u.line = null;
      u.tries = 0;
    }
    find("#again").hidden = true;
    this.start();
  },
};

// walk adds what was dropped, folder by folder.
async function walk(entry) {
  if (entry.isFile) {
    const file = await new Promise((found) => entry.file(found, () => found(null)));
    if (file) queue.add(file, entry.fullPath.slice(1));
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((found) => reader.readEntries(found, () => found([])));
    if (!some.length) return;
    await Promise.all(some.map(walk));
    queue.start();
  }
}

if (form) {
  for (const e of form.querySelectorAll(".scripted")) e.hidden = false;
  form.classList.add("ready"); // files that are chosen are sent at once
  find(".row > button", form).hidden = true;
  form.addEventListener("change", (e) => {
    for (const f of e.target.files) queue.add(f, f.webkitRelativePath || f.name);
    e.target.value = "";
    queue.start();
  });
  find("#again").addEventListener("click", () => queue.again());
  const over = (e, is) => { if (e.dataTransfer?.types.includes("Files")) { e.preventDefault(); form.classList.toggle("over", is); } };
  addEventListener("dragover", (e) => over(e, true));
  addEventListener("dragleave", (e) => { if (!e.relatedTarget) over(e, false); });
  addEventListener("drop", async (e) => {
    over(e, false);
    const entries = [...(e.dataTransfer?.items || [])].map((i) => i.webkitGetAsEntry?.()).filter(Boolean);
    for (const entry of entries) {
      await walk(entry);
      queue.start();
    }
  });
  addEventListener("beforeunload", (e) => { if (queue.done < queue.all) e.preventDefault(); });
}
