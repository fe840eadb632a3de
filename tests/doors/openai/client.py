"""Asks the server at OPENAI_BASE_URL with the package openai of PyPI, and prints what it got as JSON lines."""

import json

import openai

client = openai.OpenAI(api_key="none", max_retries=0)
MODEL, QUESTION = "ragflow", "How many days of leave do I have?"
MESSAGES = [{"role": "user", "content": QUESTION}]


def tell(name, **value):
    print(json.dumps({"name": name, **value}), flush=True)


def failure(name, ask):
    try:
        ask()
        tell(name)
    except openai.APIStatusError as e:
        tell(name, error=type(e).__name__, status=e.status_code, code=e.code, param=e.param)


tell("models", ids=[m.id for m in client.models.list()], one=client.models.retrieve("ragflow/finance").id)

whole = client.chat.completions.create(model=MODEL, messages=MESSAGES).choices[0].message
tell("chat", text=whole.content, annotations=[a.url_citation.model_dump() for a in whole.annotations])

with client.chat.completions.stream(model=MODEL, messages=MESSAGES, stream_options={"include_usage": True}) as stream:
    deltas = "".join(e.delta for e in stream if e.type == "content.delta")
    final = stream.get_final_completion()
message = final.choices[0].message
tell(
    "chat_stream", deltas=deltas, text=message.content, finish=final.choices[0].finish_reason,
    annotations=[a.url_citation.model_dump() for a in message.annotations or []], tokens=final.usage.total_tokens,
)

first = client.responses.create(model=MODEL, input=QUESTION)
tell(
    "response", text=first.output_text, annotations=[a.model_dump() for a in first.output[0].content[0].annotations],
    again=client.responses.retrieve(first.id).output_text,
)
second = client.responses.create(model=MODEL, input="What does parking cost?", previous_response_id=first.id)
tell("previous", text=second.output_text, previous=second.previous_response_id, first=first.id)
conversation = client.conversations.create()
client.responses.create(model=MODEL, input=QUESTION, conversation=conversation.id)
tell("conversation", items=[i.role for i in client.conversations.items.list(conversation.id, order="asc")])

events, deltas = [], ""
with client.responses.stream(model=MODEL, input=QUESTION) as stream:
    for e in stream:
        events.append(e.type)
        deltas += e.delta if e.type == "response.output_text.delta" else ""
    response = stream.get_final_response()
tell(
    "response_stream", deltas=deltas, text=response.output_text,
    annotations=[a.model_dump() for a in response.output[0].content[0].annotations], events=events,
)

vectors = client.embeddings.create(model=MODEL, input=["leave", "parking"])
tell("embeddings", sizes=[len(d.embedding) for d in vectors.data], sample=vectors.data[0].embedding[0])

failure("unknown_model", lambda: client.chat.completions.create(model="gpt-5", messages=MESSAGES))
failure("unknown_response", lambda: client.responses.retrieve("resp_x"))
failure("schema", lambda: client.chat.completions.create(model=MODEL, messages=MESSAGES, response_format={"type": "json_object"}))
failure("picture", lambda: client.responses.create(
    model=MODEL, input=[{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}],
))
