# Blocks about subgraphs, facts and agents; more.go is the same.
import json
from dataclasses import dataclass

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from common import IN, ON, State, line, say


def subgraph():
    # begin subgraph
    app = line({"deep": say("deep")})

    def call(s):
        return {"notes": app.invoke({"topic": s["topic"], "notes": []})["notes"]}

    g = StateGraph(State)
    g.add_node("call", call)
    g.add_edge(START, "call")
    return g.compile().invoke(IN)["notes"]
    # end


def to_parent():
    # begin goto of the graph around
    def leave(s):
        return Command(graph=Command.PARENT, goto="b", update={"notes": ["left"]})

    g = StateGraph(State)
    g.add_node("inner", line({"leave": leave}), destinations=("b", "c"))
    g.add_node("b", say("b"))
    g.add_node("c", say("c"))
    g.add_edge(START, "inner")
    return g.compile().invoke(IN)["notes"]
    # end


def remembers():
    # begin subgraph that remembers
    inner = line({"count": lambda s: {"notes": [str(len(s["notes"]))]}}, checkpointer=True)

    def call(s):
        return {"notes": inner.invoke(IN)["notes"][-1:]}

    app = line({"call": call}, checkpointer=InMemorySaver())
    app.invoke(IN, ON)
    return app.invoke(IN, ON)["notes"]
    # end


def inside_state():
    # begin state of a subgraph
    inner = line({"deep": say("deep"), "deeper": say("deeper")}, interrupt_before=["deeper"])
    app = line({"inner": inner}, checkpointer=InMemorySaver())
    app.invoke(IN, ON)
    return app.get_state(ON, subgraphs=True).tasks[0].state.values["notes"]
    # end


def facts():
    # begin facts across threads
    def remember(s, runtime: Runtime):
        runtime.store.put(("users", "ann"), "diet", {"food": "no meat"})
        found = runtime.store.search(("users",))
        return {"notes": [json.dumps(found[0].value["food"])]}

    return line({"remember": remember}, store=InMemoryStore()).invoke(IN)["notes"]
    # end


def setting():
    # begin settings of a run
    @dataclass
    class Settings:
        name: str

    def greet(s, runtime: Runtime[Settings]):
        return {"notes": [runtime.context.name]}

    g = StateGraph(State, context_schema=Settings)
    g.add_node("greet", greet)
    g.add_edge(START, "greet")
    return g.compile().invoke(IN, context=Settings("ann"))["notes"]
    # end


def who_am_i():
    # begin where a node runs
    def node(s, config):
        return {"notes": [config["configurable"]["thread_id"], str(config["metadata"]["langgraph_step"])]}

    return line({"node": node}, checkpointer=InMemorySaver()).invoke(IN, ON)["notes"]
    # end


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


def tool_agent():
    model = Model(messages=iter([
        AIMessage("", tool_calls=[{"id": "1", "name": "add", "args": {"a": 2, "b": 3}}]),
        AIMessage("5"),
    ]))

    # begin agent with a tool
    def add(a: int, b: int) -> int:
        "Adds two numbers."
        return a + b

    app = create_react_agent(model, [add])
    messages = app.invoke({"messages": [("user", "2 + 3?")]})["messages"]
    return [messages[-2].content, messages[-1].content]
    # end


BLOCKS = [subgraph, to_parent, remembers, inside_state, facts, setting, who_am_i, tool_agent]
