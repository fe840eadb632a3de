"""The Python SDK and RemoteGraph of LangGraph against the server whose address is the argument."""

import asyncio
import json
import sys
import traceback

from langgraph.graph import END, START, StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_client, get_sync_client
from typing_extensions import TypedDict

URL = sys.argv[1]
client = get_client(url=URL, api_key=None)


async def check(name, f):
    try:
        await f()
        print(json.dumps({"check": name}))
    except Exception:
        print(json.dumps({"check": name, "error": traceback.format_exc(limit=-3)}))


async def assistants():
    found = await client.assistants.search(graph_id="shop")
    assert len(found) == 1, found
    assert (await client.assistants.get(found[0]["assistant_id"]))["name"] == "shop"
    assert len((await client.assistants.get_graph("shop"))["nodes"]) == 4


async def threads():
    t = await client.threads.create(metadata={"py": True})
    assert await client.threads.count(metadata={"py": True}) == 1
    found = await client.threads.search(metadata={"py": True}, select=["thread_id"])
    assert found == [{"thread_id": t["thread_id"]}], found
    again = await client.threads.create(thread_id=t["thread_id"], if_exists="do_nothing")
    assert again["thread_id"] == t["thread_id"]
    copy = await client.threads.copy(t["thread_id"])
    pruned = await client.threads.prune([t["thread_id"], copy["thread_id"]])
    assert pruned["pruned_count"] == 2, pruned


async def stream():
    t = await client.threads.create()
    created = []
    modes = ["values", "updates", "messages-tuple", "custom", "tasks", "checkpoints", "debug"]
    parts = [
        p async for p in client.runs.stream(
            t["thread_id"], "shop", input={"item": "book"}, stream_mode=modes, on_run_created=created.append, stream_resumable=True)
    ]
    assert created[0]["run_id"] == parts[0].data["run_id"], created
    assert {p.event for p in parts} >= {"values", "updates", "custom", "tasks", "checkpoints", "debug"}, parts
    state = await client.threads.get_state(t["thread_id"])
    assert state["next"] == ["pay"] and state["interrupts"][0]["value"] == {"pay": 4}, state
    again = [p async for p in client.runs.join_stream(t["thread_id"], created[0]["run_id"], last_event_id="-1")]
    assert len(again) == len(parts), (len(again), len(parts))
    more = [p async for p in client.runs.stream(t["thread_id"], "shop", command={"resume": True}, stream_mode=["values", "messages"])]
    partial = [p.data[0]["content"] for p in more if p.event == "messages/partial"]
    assert partial == ["it is ", "it is paid"] and more[-1].data["paid"], more


async def waiting():
    t = await client.threads.create()
    assert (await client.runs.wait(t["thread_id"], "shop", input={"item": "pen"}))["price"] == 3
    run = await client.runs.create(t["thread_id"], "shop", input={"item": "slow"})
    await client.runs.cancel(t["thread_id"], run["run_id"], wait=True)
    assert (await client.runs.get(t["thread_id"], run["run_id"]))["status"] == "interrupted"
    out = await client.runs.wait(None, "shop", input={"item": "bad"}, raise_error=False)
    assert out["__error__"]["message"], out


async def state():
    t = await client.threads.create()
    await client.runs.wait(t["thread_id"], "shop", input={"item": "pen"})
    history = await client.threads.get_history(t["thread_id"], limit=10)
    assert len(history) == 2, history
    await client.threads.update_state(t["thread_id"], {"price": 9})
    assert (await client.threads.get_state(t["thread_id"]))["values"]["price"] == 9
    earlier = await client.threads.get_state(t["thread_id"], checkpoint=history[-1]["checkpoint"])
    assert earlier["next"] == ["price"], earlier


async def store():
    await client.store.put_item(["py"], "k", {"x": 1})
    assert (await client.store.get_item(["py"], "k"))["value"] == {"x": 1}
    assert len((await client.store.search_items(["py"]))["items"]) == 1
    assert (await client.store.list_namespaces(prefix=["py"]))["namespaces"] == [["py"]]
    await client.store.delete_item(["py"], "k")


async def remote():
    graph = RemoteGraph("shop", url=URL)
    t = await client.threads.create()
    config = {"configurable": {"thread_id": t["thread_id"]}}
    assert graph.invoke({"item": "book"}, config)["price"] == 4
    snapshot = graph.get_state(config)
    assert snapshot.next == ("pay",) and snapshot.tasks[0].interrupts[0].value == {"pay": 4}, snapshot
    chunks = list(graph.stream(Command(resume=True), config, stream_mode="updates"))
    assert chunks[-1]["pay"]["paid"], chunks
    assert len(list(graph.get_state_history(config))) == 3
    graph.update_state(config, {"price": 9})
    assert graph.get_state(config).values["price"] == 9
    assert set(graph.get_graph().nodes) == {"__start__", "price", "pay", "__end__"}


class Parent(TypedDict, total=False):
    item: str
    price: int


async def subgraph():
    parent = StateGraph(Parent)
    parent.add_node("shop", RemoteGraph("shop", url=URL))
    parent.add_edge(START, "shop")
    parent.add_edge("shop", END)
    # The remote run asks; as a node of another graph it interrupts that one.
    out = [c for c in parent.compile().stream({"item": "book"}, stream_mode="updates")]
    assert out, out


async def sync():
    plain = get_sync_client(url=URL, api_key=None)
    t = plain.threads.create()
    out = plain.runs.wait(t["thread_id"], "ragflow", input={"messages": [{"role": "user", "content": "How many days of leave?"}]})
    assert "26 days" in out["messages"][-1]["content"], out


async def main():
    for name, f in [("assistants", assistants), ("threads", threads), ("stream", stream), ("waiting", waiting), ("state", state),
                    ("store", store), ("RemoteGraph", remote), ("RemoteGraph as a node", subgraph), ("sync", sync)]:
        await check(name, f)


asyncio.run(main())
