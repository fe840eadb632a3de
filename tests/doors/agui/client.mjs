// Asks a server with the official client of AG-UI, which checks the order of events, and prints one line of JSON.
//   node client.mjs URL          asks twice, loads the thread again, and sends what cannot be answered
//   node client.mjs URL leave    leaves a question when its first step has begun, and comes back on a line of standard input
import { createInterface } from "node:readline";
import { HttpAgent } from "@ag-ui/client";

const [base, leave] = process.argv.slice(2);
const question = { id: "q1", role: "user", content: "How many days of leave?" };
const agent = (threadId, ...initialMessages) => new HttpAgent({ url: base + "/agui", threadId, initialMessages });

// run tells what the page has after a run.
const run = async (a, onEvent = () => {}) => {
  const events = [], custom = [];
  let deltas = "", error = "";
  const subscriber = {
    onEvent: ({ event }) => { events.push(event.type); onEvent(event); },
    onTextMessageContentEvent: ({ event }) => { deltas += event.delta; },
    onCustomEvent: ({ event }) => { custom.push(event); },
    onRunErrorEvent: ({ event }) => { error = event.code + " " + event.message; },
  };
  await a.runAgent({}, subscriber).catch((e) => { error = error || String(e); });
  return { events, deltas, error, messages: a.messages, state: a.state, custom };
};

const seen = {};
if (leave) {
  const a = agent("left", question);
  seen.left = await run(a, (event) => event.type === "STEP_STARTED" && a.abortRun());
  console.log("left");
  await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
  seen.back = await run(agent("left", question));
} else {
  const a = agent("thread", { id: "hello", role: "assistant", content: "What do you want to know?" }, question);
  seen.first = structuredClone(await run(a));
  a.addMessage({ id: "q2", role: "user", content: [{ type: "text", text: "How many days of leave a year, again?" }] });
  seen.second = await run(a);
  seen.again = await run(agent("thread"));
  seen.unknown = await run(agent("unknown"));
  seen.name = await run(agent("x".repeat(201), question));
  seen.picture = await run(agent("picture", { ...question, content: [{ type: "image", source: { type: "url", value: "https://a.test/x.png" } }] }));
}
console.log(JSON.stringify(seen));
process.exit(0);
