"""Streams two answers of the server at OPENAI_BASE_URL that end early, and prints what the package openai of PyPI makes of them."""

import asyncio
import json

import openai

MODEL, QUESTION = "ragflow", "How many days of leave do I have?"


async def chat(client):
    async with client.chat.completions.stream(model=MODEL, messages=[{"role": "user", "content": QUESTION}]) as stream:
        await stream.get_final_completion()


async def response(client):
    async with client.responses.stream(model=MODEL, input=QUESTION) as stream:
        async for e in stream:
            if e.type == "response.failed":
                print(json.dumps({"name": "response", "error": e.response.status, "text": e.response.error.message}), flush=True)


async def main():
    client = openai.AsyncOpenAI(api_key="none", max_retries=0)
    for e in await asyncio.gather(chat(client), response(client), return_exceptions=True):
        if e is not None:
            print(json.dumps({"name": "chat", "error": type(e).__name__, "text": str(e)}), flush=True)


asyncio.run(main())
