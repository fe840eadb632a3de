// Asks the server at OPENAI_BASE_URL with the package openai of npm, and prints what it got as JSON lines.
import OpenAI from "openai";

const client = new OpenAI({ apiKey: "none", maxRetries: 0 });
const model = "ragflow", question = "How many days of leave do I have?";
const messages = [{ role: "user", content: question }];
const tell = (name, value) => console.log(JSON.stringify({ name, ...value }));
const failure = async (name, ask) => {
  try {
    await ask();
    tell(name, {});
  } catch (e) {
    tell(name, { error: e.constructor.name, status: e.status, code: e.code, param: e.param });
  }
};

const models = [];
for await (const m of client.models.list()) models.push(m.id);
tell("models", { ids: models, one: (await client.models.retrieve("ragflow/finance")).id });

const whole = await client.chat.completions.create({ model, messages });
tell("chat", { text: whole.choices[0].message.content, annotations: whole.choices[0].message.annotations.map((a) => a.url_citation) });

const streamed = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
let deltas = "";
streamed.on("content", (delta) => (deltas += delta));
const final = await streamed.finalChatCompletion();
tell("chat_stream", {
  deltas, text: final.choices[0].message.content, finish: final.choices[0].finish_reason,
  annotations: (final.choices[0].message.annotations ?? []).map((a) => a.url_citation), tokens: (await streamed.totalUsage()).total_tokens,
});

const first = await client.responses.create({ model, input: question });
tell("response", { text: first.output_text, annotations: first.output[0].content[0].annotations, again: (await client.responses.retrieve(first.id)).output_text });
const second = await client.responses.create({ model, input: "What does parking cost?", previous_response_id: first.id });
tell("previous", { text: second.output_text, previous: second.previous_response_id, first: first.id });
const conversation = await client.conversations.create();
await client.responses.create({ model, input: question, conversation: conversation.id });
const items = [];
for await (const i of client.conversations.items.list(conversation.id, { order: "asc" })) items.push(i.role);
tell("conversation", { items });

const events = [];
const stream = client.responses.stream({ model, input: question });
deltas = "";
for await (const e of stream) {
  events.push(e.type);
  if (e.type === "response.output_text.delta") deltas += e.delta;
}
const response = await stream.finalResponse();
tell("response_stream", { deltas, text: response.output_text, annotations: response.output[0].content[0].annotations, events });

const vectors = await client.embeddings.create({ model, input: ["leave", "parking"] });
tell("embeddings", { sizes: vectors.data.map((d) => d.embedding.length), sample: vectors.data[0].embedding[0] });

await failure("unknown_model", () => client.chat.completions.create({ model: "gpt-5", messages }));
await failure("unknown_response", () => client.responses.retrieve("resp_x"));
await failure("schema", () => client.chat.completions.create({ model, messages, response_format: { type: "json_object" } }));
await failure("picture", () => client.responses.create({ model, input: [{ role: "user", content: [{ type: "input_image", image_url: "data:," }] }] }));
