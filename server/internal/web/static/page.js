// The script of the pages. All works without it, but for what it adds: parts of a page that open in place,
// keys, and files that are dropped.
"use strict";

const find = (selector, root = document) => root.querySelector(selector);
const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;

// The link of the page that is open.
for (const a of document.querySelectorAll("nav [data-here]")) {
  if (new RegExp(a.dataset.here).test(location.pathname)) a.setAttribute("aria-current", "page");
}

// Links with data-into open in a part of the page.
let opener = null;

function open(link) {
  const into = find(link.dataset.into);
  if (!into) return false;
  find('[aria-current="true"]')?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  opener = link;
  into.setAttribute("aria-busy", "true");
  htmx.ajax("GET", link.getAttribute("href"), { target: link.dataset.into, swap: "innerHTML" }).finally(() => {
    into.removeAttribute("aria-busy");
    into.classList.add("open");
    pictures(into);
    show(into);
  });
  return true;
}

// show scrolls to the passage.
function show(root) {
  find("mark, .marked", root)?.scrollIntoView({ block: "center", behavior: reduced ? "auto" : "smooth" });
}

// pictures takes the sharp picture of each page once it is there.
function pictures(root) {
  for (const img of root.querySelectorAll("img[data-sharp]")) {
    img.addEventListener("load", () => show(root), { once: true });
    const sharp = new Image();
    sharp.onload = () => { img.src = sharp.src; };
    sharp.src = img.dataset.sharp;
  }
}
pictures(document);

function closePane() {
  const pane = find("#pane.open");
  if (!pane) return false;
  pane.classList.remove("open");
  find('[aria-current="true"]')?.removeAttribute("aria-current");
  opener?.focus();
  return true;
}

addEventListener("load", () => { if (matchMedia("(min-width: 900px)").matches && find("a[data-open]")) open(find("a[data-open]")); });

addEventListener("click", (e) => {
  const link = e.target.closest("a[data-into]");
  if (link && !e.ctrlKey && !e.metaKey && !e.shiftKey && open(link)) {
    e.preventDefault();
    if (e.detail === 0) find(link.dataset.into).focus(); // opened with a key
  }
  if (e.target.closest("[data-close]")) closePane();
  if (e.target.closest("[data-keys]")) find("#keys").showModal();
  const menu = find("details.menu[open]");
  if (menu && !menu.contains(e.target)) menu.open = false;
});

// Forms with data-quiet leave the page as it is: its stream shows what came of them.
addEventListener("submit", (e) => {
  if (!e.target.matches("[data-quiet]")) return;
  e.preventDefault();
  htmx.ajax("POST", e.target.action, { source: e.target, target: "#notice", swap: "innerHTML" });
  question?.focus(); // the button goes away
});

// The address of a document may end with lines: #L10-L24.
const lines = location.pathname.startsWith("/d/") && /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash);
if (lines) {
  const [first, last] = [Number(lines[1]), Number(lines[2] || lines[1])];
  if (find("#L" + first)) {
    for (let n = first; n <= last; n++) find("#L" + n)?.classList.add("marked");
    show(document);
  } else if (!location.search) {
    location.replace(`?from=${Math.max(1, first - 50)}&to=${last + 100}${location.hash}`);
  }
}

// The field for the question.
const question = find("#question");
const grow = () => { question.rows = Math.min(8, 1 + (question.value.match(/\n/g) || []).length + Math.floor(question.value.length / 90)); };
question?.addEventListener("input", grow);
question?.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
  e.preventDefault();
  question.form.requestSubmit();
});
const send = find("#composer");
send?.addEventListener("htmx:after:request", (e) => {
  if (e.detail.ctx?.response?.status >= 400) return; // the notice says why, and the text stays
  question.value = "";
  grow();
  find("#notice").replaceChildren();
});

// A turn that comes is shown, unless the person reads something else.
const turns = find("#turns");
if (turns) {
  let follow = true;
  if (!location.hash) find("#end").scrollIntoView({ block: "end" });
  addEventListener("scroll", () => { follow = innerHeight + scrollY > document.body.scrollHeight - 200; }, { passive: true });
  new MutationObserver(() => { if (follow) find("#end").scrollIntoView({ block: "end" }); }).observe(turns, { childList: true });
}

// The server may be away for a while.
addEventListener("htmx:sse:error", () => { find("#offline").hidden = false; });
addEventListener("htmx:sse:after:connection", () => { find("#offline").hidden = true; });

// Keys.
addEventListener("keydown", (e) => {
  if (e.key === "Escape" && closePane()) return;
  if (e.target.matches("input, textarea, select") || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/" && question) { e.preventDefault(); question.focus(); }
  if (e.key === "?") find("#keys").showModal();
  if (e.key === "j" || e.key === "k") {
    const links = [...document.querySelectorAll("a[data-into]")].filter((a) => a.checkVisibility());
    const at = links.indexOf(opener) + (e.key === "j" ? 1 : -1);
    if (links[at]) { links[at].focus(); open(links[at]); }
  }
});
