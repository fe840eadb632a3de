// The JavaScript SDK of LangGraph against the server whose address is the argument.
import { Client } from "@langchain/langgraph-sdk";

const client = new Client({ apiUrl: process.argv[2], apiKey: null, callerOptions: { maxRetries: 0 } });
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
const collect = async (stream) => {
  const out = [];
  for await (const part of stream) out.push(part);
  return out;
};
const names = (parts) => parts.map((p) => p.event).join(" ");
const human = (content) => ({ messages: [{ type: "human", content }] });

await check("assistants", async () => {
  const list = await client.assistants.search({ graphId: "shop" });
  need(list.length === 1 && list[0].graph_id === "shop", list);
  need((await client.assistants.get(list[0].assistant_id)).name === "shop", "get");
  need((await client.assistants.getGraph("shop")).nodes.length === 4, "graph");
  need((await client.assistants.getSchemas("shop")).state_schema.properties.item, "schemas");
});

await check("threads", async () => {
  const t = await client.threads.create({ metadata: { kind: "test", n: 1 } });
  need(t.status === "idle" && t.metadata.n === 1, t);
  const found = await client.threads.search({ metadata: { kind: "test" }, limit: 5, select: ["thread_id", "metadata"] });
  need(found.length === 1 && found[0].thread_id === t.thread_id && !("values" in found[0]), found);
  need((await client.threads.count({ metadata: { kind: "test" } })) === 1, "count");
  await client.threads.update(t.thread_id, { metadata: { more: "x" } });
  const copy = await client.threads.copy(t.thread_id);
  need(copy.thread_id !== t.thread_id && copy.metadata.more === "x", copy);
  await client.threads.delete(copy.thread_id);
  const gone = await client.threads.get(copy.thread_id).then(() => false, (e) => e.status === 404 || String(e).includes("404"));
  need(gone, "a deleted thread is there");
});

await check("stream, interrupt and resume", async () => {
  const t = await client.threads.create();
  let created;
  const parts = await collect(
    client.runs.stream(t.thread_id, "shop", {
      input: { item: "book" }, streamMode: ["values", "updates", "messages-tuple", "custom"], onRunCreated: (r) => (created = r),
    }),
  );
  need(created?.thread_id === t.thread_id && created.run_id === parts[0].data.run_id, created);
  need(parts.some((p) => p.event === "values" && p.data.__interrupt__?.[0].value.pay === 4), names(parts));
  need(parts.some((p) => p.event === "custom" && p.data.seen === "book"), names(parts));
  const state = await client.threads.getState(t.thread_id);
  need(state.next[0] === "pay" && state.tasks[0].interrupts[0].value.pay === 4, state);
  const more = await collect(client.runs.stream(t.thread_id, "shop", { command: { resume: true }, streamMode: ["values", "messages-tuple"] }));
  const text = more.filter((p) => p.event === "messages").map((p) => p.data[0].content).join("");
  need(text === "it is paid" && more.at(-1).data.paid === true, more);
  need(more.filter((p) => p.event === "messages").every((p) => p.data[0].id === more.at(-1).data.messages.at(-1).id), "ids differ");
  const history = await client.threads.getHistory(t.thread_id, { limit: 10 });
  need(history.length === 3 && history[1].parent_checkpoint.checkpoint_id === history[2].checkpoint.checkpoint_id, history.length);
});

await check("wait", async () => {
  const t = await client.threads.create();
  need((await client.runs.wait(t.thread_id, "shop", { input: { item: "pen" } })).price === 3, "price");
  const error = await client.runs.wait(t.thread_id, "shop", { input: { item: "bad" } }).then(() => "", String);
  need(error.includes("no such item"), error);
  need((await client.threads.get(t.thread_id)).status === "error", "status");
});

await check("stateless", async () => {
  need((await client.runs.wait(null, "shop", { input: { item: "pen" } })).price === 3, "price");
  need(names(await collect(client.runs.stream(null, "shop", { input: { item: "pen" }, streamMode: "values" }))).startsWith("metadata values"), "stream");
  need((await client.runs.createBatch([{ assistantId: "shop", input: { item: "pen" } }])).length === 1, "batch");
});

await check("join", async () => {
  const t = await client.threads.create();
  const run = await client.runs.create(t.thread_id, "shop", { input: { item: "cup" }, streamResumable: true, streamMode: ["values"] });
  need((await client.runs.join(t.thread_id, run.run_id)).price === 3, "join");
  const all = await collect(client.runs.joinStream(t.thread_id, run.run_id, { lastEventId: "-1" }));
  need(all.filter((p) => p.event === "values").length === 3, names(all));
  const rest = await collect(client.runs.joinStream(t.thread_id, run.run_id, { lastEventId: all[1].id }));
  need(rest.filter((p) => p.event === "values").length === 2, names(rest));
  need((await client.runs.get(t.thread_id, run.run_id)).status === "success", "status");
  need((await client.runs.list(t.thread_id)).length === 1, "list");
});

await check("cancel", async () => {
  const t = await client.threads.create();
  const run = await client.runs.create(t.thread_id, "shop", { input: { item: "slow" } });
  const began = Date.now();
  await client.runs.cancel(t.thread_id, run.run_id, true);
  need(Date.now() - began < 2000, "cancelling takes long");
  need((await client.runs.get(t.thread_id, run.run_id)).status === "interrupted", "status");
});

await check("multitask", async () => {
  const t = await client.threads.create();
  await client.runs.create(t.thread_id, "shop", { input: { item: "slow" } });
  const status = await client.runs.create(t.thread_id, "shop", { input: { item: "pen" }, multitaskStrategy: "reject" }).then(() => 0, (e) => e.status);
  need(status === 409, String(status));
  need((await client.runs.wait(t.thread_id, "shop", { input: { item: "pen" }, multitaskStrategy: "interrupt" })).price === 3, "interrupt");
});

await check("state", async () => {
  const t = await client.threads.create();
  await client.runs.wait(t.thread_id, "shop", { input: { item: "pen" } });
  const past = (await client.threads.getHistory(t.thread_id, { limit: 10 })).at(-1);
  await client.threads.updateState(t.thread_id, { values: { price: 9 } });
  need((await client.threads.getState(t.thread_id)).values.price === 9, "update");
  need((await client.threads.getState(t.thread_id, past.checkpoint)).next[0] === "price", "earlier");
  const again = await client.runs.wait(t.thread_id, "shop", { input: { item: "lamp" }, checkpointId: past.checkpoint.checkpoint_id });
  need(again.price === 4, again);
});

await check("store", async () => {
  await client.store.putItem(["a", "b"], "k", { x: 1 });
  need((await client.store.getItem(["a", "b"], "k")).value.x === 1, "get");
  need((await client.store.searchItems(["a"], { filter: { x: 1 } })).items.length === 1, "search");
  need((await client.store.listNamespaces({ prefix: ["a"] })).namespaces.length === 1, "namespaces");
  await client.store.deleteItem(["a", "b"], "k");
  need((await client.store.getItem(["a", "b"], "k")) === null, "delete");
});

await check("refusals", async () => {
  const t = await client.threads.create();
  const refused = async (payload, field) => {
    const e = await client.runs.wait(t.thread_id, "shop", { input: {}, ...payload }).then(() => null, (e) => e);
    need(e?.status === 422 && String(e.message ?? e).includes(field), String(e));
  };
  await refused({ webhook: "http://localhost/" }, "webhook");
  await refused({ afterSeconds: 5 }, "after_seconds");
  const crons = await client.crons.search({}).then(() => 0, (e) => e.status);
  need(crons === 501, String(crons));
});

await check("the assistant", async () => {
  const t = await client.threads.create({ graphId: "ragflow" });
  const parts = await collect(
    client.runs.stream(t.thread_id, "ragflow", { input: human("How many days of leave?"), streamMode: ["messages-tuple", "values", "updates"] }),
  );
  const values = parts.filter((p) => p.event === "values").at(-1).data;
  const answer = values.messages.at(-1);
  need(values.messages.length === 2 && answer.type === "ai" && answer.content.includes("26 days"), values);
  need(answer.additional_kwargs.citations[0].source === "leave.md", answer);
  need(parts.filter((p) => p.event === "messages").every((p) => p.data[0].id === answer.id), "ids differ");
  need((await client.threads.search({ metadata: { graph_id: "ragflow" } })).length === 1, "search");
});
