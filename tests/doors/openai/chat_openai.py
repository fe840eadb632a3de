"""Asks the server at OPENAI_BASE_URL with LangChain's ChatOpenAI by both protocols, and prints what it got as JSON lines."""

import json

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

QUESTION = HumanMessage("How many days of leave do I have?")
for responses in (False, True):
    llm = ChatOpenAI(model="ragflow", api_key="none", max_retries=0, use_responses_api=responses, temperature=0.7, max_tokens=100)
    first = llm.invoke([SystemMessage("Be brief."), QUESTION])
    streamed = None
    for chunk in llm.stream([QUESTION]):
        streamed = chunk if streamed is None else streamed + chunk
    second = llm.invoke([QUESTION, AIMessage(first.text), HumanMessage("What does parking cost?")])
    blocks = [b for b in first.content_blocks if b["type"] == "text"]
    print(json.dumps({
        "name": "responses" if responses else "chat", "text": first.text, "streamed": streamed.text, "second": second.text,
        "annotations": [a for b in blocks for a in b.get("annotations", [])], "tokens": first.usage_metadata["total_tokens"],
    }), flush=True)

vectors = OpenAIEmbeddings(model="ragflow", api_key="none", check_embedding_ctx_length=False).embed_documents(["leave", "parking"])
print(json.dumps({"name": "embeddings", "sizes": [len(v) for v in vectors]}), flush=True)
