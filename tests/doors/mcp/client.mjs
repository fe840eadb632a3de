// Uses a server with the official clients of two generations, and prints one line of JSON a client.
//   node client.mjs http URL     waits for a line on standard input before the last call
//   node client.mjs stdio PROGRAM ARGUMENT...
import { createInterface } from "node:readline";
import { Client as Older } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OlderHTTP } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Newer, StreamableHTTPClientTransport as NewerHTTP } from "@modelcontextprotocol/client";

const [how, target, ...rest] = process.argv.slice(2);
const info = { name: "test", version: "1" };
const kinds = {
  "TypeScript 1": [new Older(info), () => (how === "http" ? new OlderHTTP(new URL(target)) : new OlderStdio({ command: target, args: rest, env: process.env }))],
};
if (how === "http") {
  kinds["TypeScript 2"] = [new Newer(info), () => new NewerHTTP(new URL(target))];
  kinds["TypeScript 2, newest protocol"] = [new Newer(info, { versionNegotiation: { mode: "auto" } }), () => new NewerHTTP(new URL(target))];
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const seen = {};
for (const [name, [client, transport]] of Object.entries(kinds)) {
  await client.connect(transport());
  const progress = [];
  const tools = (await client.listTools()).tools.map((t) => t.name).sort();
  const hits = (await client.callTool({ name: "search", arguments: { query: "paid leave" } })).structuredContent.results;
  const text = (await client.callTool({ name: "fetch", arguments: { id: hits[0].id } })).structuredContent.text;
  const question = { name: "ask", arguments: { question: "How many days of leave?" } };
  const options = { onprogress: (p) => progress.push(p.message) };
  const answer = await (name === "TypeScript 1" ? client.callTool(question, undefined, options) : client.callTool(question, options));
  const resources = (await client.listResources()).resources;
  const resource = (await client.readResource({ uri: resources[0].uri })).contents[0].text;
  const wrong = await client.callTool({ name: "fetch", arguments: { id: "nosuch" } });
  seen[name] = { tools, hits: hits.length, text, answer: answer.structuredContent, progress, resource, wrong: wrong.isError === true };
}
if (how === "http") {
  console.log("ready");
  await lines.next();
  for (const [name, [client]] of Object.entries(kinds)) {
    seen[name].again = (await client.callTool({ name: "search", arguments: { query: "paid leave" } })).structuredContent.results.length;
  }
}
console.log(JSON.stringify(seen));
process.exit(0);
