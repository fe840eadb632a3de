// Asks the server at OPENAI_BASE_URL with LangChain's ChatOpenAI, which n8n and LibreChat use, by both protocols, and prints what it
// got as JSON lines.
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";

const question = ["human", "How many days of leave do I have?"];
const configuration = { baseURL: process.env.OPENAI_BASE_URL };
for (const useResponsesApi of [false, true]) {
  const llm = new ChatOpenAI({ model: "ragflow", apiKey: "none", maxRetries: 0, useResponsesApi, temperature: 0.7, configuration });
  const first = await llm.invoke([["system", "Be brief."], question]);
  let streamed = "";
  for await (const chunk of await llm.stream([question])) streamed += chunk.text;
  const second = await llm.invoke([question, ["ai", first.text], ["human", "What does parking cost?"]]);
  const blocks = Array.isArray(first.content) ? first.content : [];
  console.log(JSON.stringify({
    name: useResponsesApi ? "responses" : "chat", text: first.text, streamed, second: second.text, annotations: blocks.flatMap((b) => b.annotations ?? []).map((a) => ({ url: a.url, start_index: a.startIndex, end_index: a.endIndex })),
  }));
}
const vectors = await new OpenAIEmbeddings({ model: "ragflow", apiKey: "none", configuration }).embedDocuments(["leave", "parking"]);
console.log(JSON.stringify({ name: "embeddings", sizes: vectors.map((v) => v.length) }));
