"""Uses a server with the official client, and prints one line of JSON: client.py URL."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    progress = []

    async def note(done, total, message):
        progress.append(message)

    async with streamable_http_client(sys.argv[1]) as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        tools = sorted(t.name for t in (await session.list_tools()).tools)
        found = await session.call_tool("search", {"query": "paid leave"})
        hits = found.structured_content["results"]
        read = await session.call_tool("fetch", {"id": hits[0]["id"]})
        answer = await session.call_tool("ask", {"question": "How many days of leave?"}, progress_callback=note)
        resources = (await session.list_resources()).resources
        resource = (await session.read_resource(str(resources[0].uri))).contents[0].text
        wrong = await session.call_tool("fetch", {"id": "nosuch"})
        seen = {
            "tools": tools, "hits": len(hits), "text": read.structured_content["text"], "answer": answer.structured_content,
            "progress": progress, "resource": resource, "wrong": wrong.is_error,
        }
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        seen["again"] = len((await session.call_tool("search", {"query": "paid leave"})).structured_content["results"])
        print(json.dumps({"Python": seen}), flush=True)


asyncio.run(main())
