# What main.go does, with LangGraph: pip install langgraph, then python blocks.py
import operator
from typing import Annotated, TypedDict
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, Send, interrupt


# begin state
class State(TypedDict):
    topic: str
    notes: Annotated[list[str], operator.add]
# end


def say(text):
    return lambda s: {"notes": [text]}


def two_nodes():
    # begin two nodes
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_node("b", say("b"))
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_edge("b", END)
    app = g.compile()
    return app.invoke({"topic": "x", "notes": []})["notes"]
    # end


def branch():
    # begin conditional edge
    g = StateGraph(State)
    g.add_node("short", say("short"))
    g.add_node("long", say("long"))
    g.add_conditional_edges(START, lambda s: "long" if len(s["topic"]) > 3 else "short", ["short", "long"])
    g.add_edge("short", END)
    g.add_edge("long", END)
    app = g.compile()
    return app.invoke({"topic": "topic", "notes": []})["notes"]
    # end


def map_reduce():
    # begin map-reduce
    g = StateGraph(State)
    g.add_node("work", lambda part: {"notes": [part["word"].upper()]})
    g.add_conditional_edges(START, lambda s: [Send("work", {"word": w}) for w in s["topic"].split()], ["work"])
    g.add_edge("work", END)
    app = g.compile()
    return app.invoke({"topic": "x y", "notes": []})["notes"]
    # end


def asks():
    # begin interrupt and resume
    def ask(s):
        return {"notes": [interrupt("go on?")]}

    g = StateGraph(State)
    g.add_node("ask", ask)
    g.add_edge(START, "ask")
    g.add_edge("ask", END)
    app = g.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    app.invoke({"topic": "x", "notes": []}, config)
    return app.invoke(Command(resume="yes"), config)["notes"]
    # end


def retry():
    # begin retry
    tries = []

    def flaky(s):
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("flaky")
        return {"notes": ["third"]}

    g = StateGraph(State)
    g.add_node("flaky", flaky, retry_policy=RetryPolicy(max_attempts=3, initial_interval=0.001))
    g.add_edge(START, "flaky")
    g.add_edge("flaky", END)
    return g.compile().invoke({"topic": "x", "notes": []})["notes"]
    # end


def subgraph():
    # begin subgraph
    inner = StateGraph(State)
    inner.add_node("deep", say("deep"))
    inner.add_edge(START, "deep")
    inner.add_edge("deep", END)
    app = inner.compile()

    def call(s):
        return {"notes": app.invoke({"topic": s["topic"], "notes": []})["notes"]}

    g = StateGraph(State)
    g.add_node("call", call)
    g.add_edge(START, "call")
    g.add_edge("call", END)
    return g.compile().invoke({"topic": "x", "notes": []})["notes"]
    # end


def stream():
    # begin streaming
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_edge(START, "a")
    g.add_edge("a", END)
    out = []
    for update in g.compile().stream({"topic": "x", "notes": []}, stream_mode="updates"):
        out += update["a"]["notes"]
    return out
    # end


def memory():
    # begin checkpointer
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_edge(START, "a")
    g.add_edge("a", END)
    app = g.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    app.invoke({"topic": "x", "notes": []}, config)
    app.invoke({"topic": "y", "notes": []}, config)
    return app.get_state(config).values["notes"]
    # end


def travel():
    # begin time travel
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_edge(START, "a")
    g.add_edge("a", END)
    app = g.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    for topic in ["x", "y"]:
        app.invoke({"topic": topic, "notes": []}, config)
    old = [c for c in app.get_state_history(config) if not c.next][-1]
    return old.values["notes"]
    # end


def goto():
    # begin goto
    def pick(s):
        return Command(goto="b", update={"notes": ["picked"]})

    g = StateGraph(State)
    g.add_node("pick", pick, destinations=("b", "c"))
    g.add_node("b", say("b"))
    g.add_node("c", say("c"))
    g.add_edge(START, "pick")
    return g.compile().invoke({"topic": "x", "notes": []})["notes"]
    # end


for block in [two_nodes, branch, map_reduce, asks, retry, subgraph, stream, memory, travel, goto]:
    print(*block())
