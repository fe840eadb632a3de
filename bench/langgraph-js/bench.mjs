// The scenarios of bench/README.md on LangGraph for JavaScript with its SQLite saver.
import { setMaxListeners } from "node:events";
import { appendFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";

setMaxListeners(0);

const Counter = Annotation.Root({ n: Annotation({ reducer: (a, b) => a + b, default: () => 0 }) });
const Conversation = Annotation.Root({
  ...MessagesAnnotation.spec,
  documents: Annotation({ reducer: (_, b) => b, default: () => [] }),
});

function words(n) {
  let out = "";
  while (out.length < n) {
    for (let k = 1 + Math.floor(Math.random() * 9); k > 0; k--) {
      out += String.fromCharCode(97 + Math.floor(Math.random() * 26));
    }
    out += " ";
  }
  return out.slice(0, n);
}

class Watch {
  wall = performance.now();
  cpu = process.cpuUsage();
  per(n) {
    const { user, system } = process.cpuUsage(this.cpu);
    return { wall_us: ((performance.now() - this.wall) * 1000) / n, cpu_us: (user + system) / n };
  }
}

const saver = (folder) => SqliteSaver.fromConnString(join(folder, "threads.db"));
const size = (folder) => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
const options = (thread) => ({ configurable: { thread_id: thread }, recursionLimit: 1000 });

function close(store) {
  store.db.pragma("wal_checkpoint(TRUNCATE)");
  store.db.close();
}

function line(state, nodes, store) {
  const graph = new StateGraph(state);
  let last = START;
  nodes.forEach((node, i) => {
    const name = `n${String(i).padStart(3, "0")}`;
    graph.addNode(name, node);
    graph.addEdge(last, name);
    last = name;
  });
  graph.addEdge(last, END);
  return graph.compile({ checkpointer: store });
}

async function chain(n, _, store) {
  const app = line(Counter, Array(100).fill(() => ({ n: 1 })), store);
  const watch = new Watch();
  for (let i = 0; i < n; i++) {
    const got = await app.invoke({ n: 0 }, { ...options(String(i)), ...(store && { durability: "sync" }) });
    if (got.n !== 100) throw new Error(`${got.n}`);
  }
  return watch.per(n * 100);
}

async function durable(n, folder) {
  const store = saver(folder);
  const out = await chain(n, folder, store);
  close(store);
  return { ...out, bytes_per_step: size(folder) / (n * 100) };
}

async function fanout(n) {
  const app = new StateGraph(Counter)
    .addNode("worker", () => ({ n: 1 }))
    .addNode("merge", () => ({}))
    .addConditionalEdges(START, (s) => Array.from({ length: 100 }, () => new Send("worker", s)), ["worker"])
    .addEdge("worker", "merge")
    .addEdge("merge", END)
    .compile();
  const watch = new Watch();
  for (let i = 0; i < n; i++) {
    const got = await app.invoke({ n: 0 });
    if (got.n !== 100) throw new Error(`${got.n}`);
  }
  return watch.per(n * 100);
}

function conversation(store) {
  const idle = () => ({});
  const documents = () => ({ documents: Array.from({ length: 4 }, () => words(256)) });
  const answer = () => ({ messages: [new AIMessage(words(400))] });
  return line(Conversation, [idle, idle, documents, idle, idle, idle, answer], store);
}

const say = () => ({ messages: [new HumanMessage(words(400))] });

async function grow(n, folder) {
  const store = saver(folder);
  const app = conversation(store);
  const out = {};
  const whole = new Watch();
  for (let i = 0; i < n; i += 10) {
    const ten = new Watch();
    for (let k = 0; k < 10; k++) await app.invoke(say(), options("one"));
    if (i === 0) out.first_cpu_us = ten.per(10).cpu_us;
    if (i === n - 10) out.last_cpu_us = ten.per(10).cpu_us;
  }
  Object.assign(out, whole.per(n));
  close(store);
  return { ...out, bytes: size(folder) };
}

async function threads(n, folder) {
  const store = saver(folder);
  const app = conversation(store);
  const watch = new Watch();
  await Promise.all(
    Array.from({ length: n }, async (_, i) => {
      for (let k = 0; k < 10; k++) await app.invoke(say(), options(String(i)));
    }),
  );
  const out = watch.per(n * 10);
  close(store);
  return { ...out, bytes: size(folder) };
}

async function meet(n, folder) {
  const store = saver(folder);
  const app = conversation(store);
  let told = 0;
  for (let i = 0; i < n; i++) {
    await Promise.all([0, 1].map(() => app.invoke(say(), options("one")).then(() => (told += 2))));
  }
  const kept = (await app.getState(options("one"))).values.messages.length;
  close(store);
  return { acknowledged: told, kept };
}

async function sibling(_, folder) {
  const ran = {};
  const graph = new StateGraph(Counter);
  for (const name of "abcd") {
    graph.addNode(name, async () => {
      ran[name] = (ran[name] ?? 0) + 1;
      if (name === "d" && ran[name] === 1) {
        await new Promise((done) => setTimeout(done, 500));
        throw new Error("the first time it fails");
      }
      return { n: 1 };
    });
    graph.addEdge(START, name);
    graph.addEdge(name, END);
  }
  const app = graph.compile({ checkpointer: saver(folder) });
  await app.invoke({ n: 0 }, options("one")).then(
    () => { throw new RangeError("the failing sibling did not fail"); },
    (fault) => { if (fault instanceof RangeError) throw fault; },
  );
  const got = await app.invoke(null, options("one"));
  if (got.n !== 4) throw new Error(`${got.n}`);
  return { runs_of_finished: (ran.a + ran.b + ran.c) / 3 };
}

async function kill(_, folder, again = false) {
  const nodes = Array.from({ length: 10 }, (_, i) => () => {
    if (i === 5 && !again) process.kill(process.pid, "SIGKILL");
    appendFileSync(join(folder, "ran"), `${i}\n`);
    return { n: 1 };
  });
  await line(Counter, nodes, saver(folder)).invoke(again ? null : { n: 0 }, { ...options("one"), durability: "sync" });
  const ran = readFileSync(join(folder, "ran"), "utf8").trim().split("\n");
  const finished = ran.filter((i) => Number(i) < 5).length;
  return { runs_of_finished: finished / 5, nodes: new Set(ran).size };
}

function compile(n) {
  const nodes = Array.from({ length: n }, () => () => ({ n: 1 }));
  const began = performance.now();
  line(Counter, nodes);
  return { wall_us: (performance.now() - began) * 1000 };
}

const scenarios = { chain, compile, durable, fanout, grow, threads, meet, sibling, kill, resume: (n, f) => kill(n, f, true) };
const [, , scenario, n, folder] = process.argv;
const run = scenarios[scenario] ?? (() => null);
console.log(JSON.stringify(await run(Number(n), folder)));
