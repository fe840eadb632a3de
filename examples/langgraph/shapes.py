# Blocks about the shape of a graph; shapes.go is the same.
import operator
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.errors import InvalidUpdateError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send

from common import IN, State, say


def two_nodes():
    # begin two nodes
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_node("b", say("b"))
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_edge("b", END)
    app = g.compile()
    return app.invoke(IN)["notes"]
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


def goto():
    # begin goto
    def pick(s):
        return Command(goto="b", update={"notes": ["picked"]})

    g = StateGraph(State)
    g.add_node("pick", pick, destinations=("b", "c"))
    g.add_node("b", say("b"))
    g.add_node("c", say("c"))
    g.add_edge(START, "pick")
    return g.compile().invoke(IN)["notes"]
    # end


def goto_many():
    # begin goto several
    def pick(s):
        return Command(goto=["b", "c"], update={"notes": ["picked"]})

    g = StateGraph(State)
    g.add_node("pick", pick, destinations=("b", "c"))
    g.add_node("b", say("b"))
    g.add_node("c", say("c"))
    g.add_edge(START, "pick")
    return g.compile().invoke(IN)["notes"]
    # end


def parts_go_on():
    # begin parts that go on
    def work(part):
        word = part["word"]
        return Command(goto="long" if len(word) > 3 else "short", update={"notes": [word]})

    g = StateGraph(State)
    g.add_node("work", work, destinations=("long", "short"))
    g.add_node("long", say("long"))
    g.add_node("short", say("short"))
    g.add_conditional_edges(START, lambda s: [Send("work", {"word": w}) for w in s["topic"].split()], ["work"])
    return g.compile().invoke({"topic": "abcd x y", "notes": []})["notes"]
    # end


def parallel():
    # begin side by side
    g = StateGraph(State)
    for name in ["a", "b", "c", "d"]:
        g.add_node(name, say(name))
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_edge("a", "c")
    g.add_edge("b", "d")
    g.add_edge("c", "d")
    return g.compile().invoke(IN)["notes"]
    # end


def join():
    # begin join
    g = StateGraph(State)
    for name in ["a", "b", "c", "d"]:
        g.add_node(name, say(name))
    g.add_edge(START, "a")
    g.add_edge(START, "b")
    g.add_edge("b", "c")
    g.add_edge(["a", "c"], "d")
    return g.compile().invoke(IN)["notes"]
    # end


def defer():
    # begin deferred node
    g = StateGraph(State)
    for name in ["a", "b", "c"]:
        g.add_node(name, say(name))
    g.add_node("last", say("last"), defer=True)
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_edge("b", "c")
    g.add_edge("a", "last")
    return g.compile().invoke(IN)["notes"]
    # end


def loop():
    # begin loop
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_edge(START, "a")
    g.add_conditional_edges("a", lambda s: "a" if len(s["notes"]) < 3 else END, ["a", END])
    return g.compile().invoke(IN)["notes"]
    # end


def branches():
    # begin several branches
    def to_b(s):
        return "b" if s["topic"] else END

    def to_c(s):
        return "c" if s["notes"] else "d"

    g = StateGraph(State)
    for name in ["a", "b", "c", "d"]:
        g.add_node(name, say(name))
    g.add_edge(START, "a")
    g.add_conditional_edges("a", to_b, ["b", END])
    g.add_conditional_edges("a", to_c, ["c", "d"])
    return g.compile().invoke(IN)["notes"]
    # end


def conflict():
    # begin two writers
    g = StateGraph(State)
    g.add_node("a", lambda s: {"topic": "a"})
    g.add_node("b", lambda s: {"topic": "b"})
    g.add_edge(START, "a")
    g.add_edge(START, "b")
    try:
        g.compile().invoke(IN)
    except InvalidUpdateError:
        return ["true"]
    # end


def reducers():
    # begin reducers
    class Counts(TypedDict):
        seen: Annotated[dict, operator.or_]
        total: Annotated[int, operator.add]

    g = StateGraph(Counts)
    g.add_node("a", lambda s: {"seen": {"a": 1}, "total": 1})
    g.add_node("b", lambda s: {"seen": {"b": 2}, "total": 2})
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    s = g.compile().invoke({"seen": {}, "total": 0})
    return [f"{len(s['seen'])} {s['total']}"]
    # end


def messages():
    # begin messages
    g = StateGraph(MessagesState)
    g.add_node("a", lambda s: {"messages": [AIMessage("draft", id="1")]})
    g.add_node("b", lambda s: {"messages": [AIMessage("final", id="1")]})
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    s = g.compile().invoke({"messages": [HumanMessage("hello", id="0")]})
    return [m.content for m in s["messages"]]
    # end


def faults():
    # begin faults of a graph
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_edge(START, "a")
    g.add_edge("a", "nowhere")
    try:
        g.compile()
    except ValueError as e:
        return [str("nowhere" in str(e)).lower()]
    # end


def picture():
    # begin picture
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_edge(START, "a")
    g.add_edge("a", END)
    drawn = g.compile().get_graph().draw_mermaid()
    return [str("graph TD" in drawn).lower()]
    # end


BLOCKS = [two_nodes, branch, map_reduce, goto, goto_many, parts_go_on, parallel, join, defer, loop, branches, conflict, reducers, messages, faults, picture]
