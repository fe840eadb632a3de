# What all blocks share, as main.go has it.
import operator
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph


# begin state
class State(TypedDict):
    topic: str
    notes: Annotated[list[str], operator.add]
# end


IN = {"topic": "x", "notes": []}
ON = {"configurable": {"thread_id": "1"}}


# begin helpers
def say(text):
    return lambda s: {"notes": [text]}


def line(nodes, **options):
    g = StateGraph(State).add_sequence(list(nodes.items()))
    g.add_edge(START, next(iter(nodes)))
    return g.compile(**options)


def lived():
    app = line({"a": say("a"), "b": say("b")}, checkpointer=InMemorySaver())
    app.invoke(IN, ON)
    return app
# end
