// Both hooks of LangGraph in a page of jsdom, against the server whose address is the argument.
import { JSDOM } from "jsdom";

const dom = new JSDOM("<div id=root></div>", { url: process.argv[2] });
for (const name of ["window", "document", "navigator", "HTMLElement", "Node", "sessionStorage", "localStorage"]) globalThis[name] = dom.window[name];

const React = await import("react");
const { createRoot } = await import("react-dom/client");
const { useStream: oldHook } = await import("@langchain/langgraph-sdk/react");
const { useStream: newHook } = await import("@langchain/react");

const need = (ok, what) => {
  if (!ok) throw new Error(typeof what === "string" ? what : JSON.stringify(what));
};
const check = async (name, f) => {
  try {
    await f();
    console.log(JSON.stringify({ check: name }));
  } catch (e) {
    console.log(JSON.stringify({ check: name, error: String(e?.stack ?? e) }));
  }
};
const until = async (what, holds) => {
  for (const end = Date.now() + 15000; !holds(); await new Promise((r) => setTimeout(r, 10))) {
    if (Date.now() > end) throw new Error(`${what} did not happen`);
  }
};

// page renders a hook; now() is what it returned last, seen all texts of the last message.
const page = (hook, options) => {
  let last;
  const seen = new Set();
  const root = createRoot(document.createElement("div"));
  const Page = () => {
    last = hook({ apiUrl: process.argv[2], apiKey: null, ...options });
    const message = last.messages?.at(-1);
    if (message) seen.add(`${message.type ?? message.getType()}: ${message.content}`);
    return null;
  };
  root.render(React.createElement(Page));
  return { now: () => last, seen, close: () => root.unmount() };
};
const text = (m) => (typeof m.content === "string" ? m.content : m.content.map((block) => block.text).join(""));
const types = (messages) => messages.map((m) => m.type ?? m.getType()).join(" ");

const conversation = async (hook) => {
  let thread;
  const p = page(hook, { assistantId: "ragflow", messagesKey: "messages", onThreadId: (id) => (thread = id) });
  await until("a page", () => p.now());
  const ask = async (text, n) => {
    void p.now().submit({ messages: [{ type: "human", content: text }] });
    await until("an answer", () => p.now().messages?.length === n && !p.now().isLoading);
  };
  await ask("How many days of leave?", 2);
  need(text(p.now().messages[1]).includes("26 days"), p.now().messages);
  await ask("Of how many employees?", 4);
  need(types(p.now().messages) === "human ai human ai", types(p.now().messages));
  p.close();
  // The same thread after a reload.
  const again = page(hook, { assistantId: "ragflow", messagesKey: "messages", threadId: thread ?? p.now().threadId });
  await until("the thread", () => again.now()?.messages?.length === 4);
  again.close();
};

const approval = async (hook, answer) => {
  const p = page(hook, { assistantId: "shop", messagesKey: "messages" });
  await until("a page", () => p.now());
  void p.now().submit({ item: "book", messages: [{ type: "human", content: "a book", id: "u1" }] });
  await until("an interrupt", () => p.now().interrupt && !p.now().isLoading);
  need(p.now().interrupt.value.pay === 4, p.now().interrupt);
  void answer(p.now());
  await until("the end", () => p.now().values?.paid === true && !p.now().isLoading);
  need(types(p.now().messages) === "human ai" && text(p.now().messages[1]) === "it is paid", p.now().messages);
  p.close();
};

await check("old hook: conversation", () => conversation(oldHook));
await check("old hook: approval", () => approval(oldHook, (s) => s.submit(undefined, { command: { resume: true } })));
await check("new hook: conversation", () => conversation(newHook));
await check("new hook: approval", () => approval(newHook, (s) => s.respond(true)));
await check("new hook: stop", async () => {
  const p = page(newHook, { assistantId: "shop" });
  await until("a page", () => p.now());
  void p.now().submit({ item: "slow" });
  await until("a run", () => p.now().isLoading && p.now().values?.item === "slow");
  await p.now().stop();
  await until("the end", () => !p.now().isLoading);
  p.close();
});
process.exit(0);
