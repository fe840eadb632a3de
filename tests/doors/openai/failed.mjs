// Streams two answers of the server at OPENAI_BASE_URL that end early, and prints what the package openai of npm makes of them.
import OpenAI from "openai";

const client = new OpenAI({ apiKey: "none", maxRetries: 0 });
const model = "ragflow", question = "How many days of leave do I have?";
const asked = await Promise.allSettled([
  client.chat.completions.stream({ model, messages: [{ role: "user", content: question }] }).finalChatCompletion(),
  client.responses.stream({ model, input: question }).finalResponse(),
]);
for (const [i, name] of ["chat", "response"].entries()) {
  const { reason, value } = asked[i];
  console.log(JSON.stringify({ name, error: reason?.constructor.name ?? value.status, text: reason?.message ?? value.error.message }));
}
