# Blocks about faults and limits; faults.go is the same.
import operator
from typing import Annotated, TypedDict

from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.managed import RemainingSteps
from langgraph.types import CachePolicy, Command, RetryPolicy

from common import IN, ON, State, line, say


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
    return g.compile().invoke(IN)["notes"]
    # end


def retry_some():
    # begin retry of some errors
    tries = []

    def flaky(s):
        tries.append(1)
        raise PermissionError("never")

    g = StateGraph(State)
    g.add_node("flaky", flaky, retry_policy=RetryPolicy(max_attempts=3, retry_on=ConnectionError))
    g.add_edge(START, "flaky")
    try:
        g.compile().invoke(IN)
    except PermissionError:
        return [str(len(tries)), "true"]
    # end


def handled():
    # begin error handler
    def broken(s):
        raise ConnectionError("broken")

    def handler(s):
        return Command(goto="b", update={"notes": ["handled"]})

    g = StateGraph(State)
    g.add_node("a", broken, error_handler=handler)
    g.add_node("b", say("b"))
    g.add_edge(START, "a")
    return g.compile().invoke(IN)["notes"]
    # end


def limited():
    # begin recursion limit
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_edge(START, "a")
    g.add_edge("a", "a")
    try:
        g.compile().invoke(IN, {"recursion_limit": 3})
    except GraphRecursionError:
        return ["true"]
    # end


def steps_left():
    # begin steps left
    class Counted(TypedDict):
        notes: Annotated[list[str], operator.add]
        left: RemainingSteps

    g = StateGraph(Counted)
    g.add_node("a", lambda s: {"notes": [str(s["left"] > 3).lower()]})
    g.add_edge(START, "a")
    return g.compile().invoke({"notes": []}, {"recursion_limit": 9})["notes"]
    # end


def cached():
    # begin cache
    runs = []

    def slow(s):
        runs.append(1)
        return {"notes": [str(len(runs))]}

    g = StateGraph(State)
    g.add_node("slow", slow, cache_policy=CachePolicy(key_func=lambda s: s["topic"], ttl=60))
    g.add_edge(START, "slow")
    app = g.compile(cache=InMemoryCache())
    return app.invoke(IN)["notes"] + app.invoke(IN)["notes"]
    # end


def siblings():
    # begin finished siblings
    runs = {"a": 0, "b": 0}

    def a(s):
        runs["a"] += 1
        return {"notes": ["a"]}

    def b(s):
        runs["b"] += 1
        if runs["b"] == 1:
            raise ConnectionError("broken")
        return {"notes": ["b"]}

    g = StateGraph(State)
    g.add_node("a", a)
    g.add_node("b", b)
    g.add_edge(START, "a")
    g.add_edge(START, "b")
    app = g.compile(checkpointer=InMemorySaver())
    try:
        app.invoke(IN, ON)
    except ConnectionError:
        app.invoke(None, ON)
    return [str(runs["a"]), str(runs["b"])]
    # end


def go_on():
    # begin resume after a failure
    tries = []

    def flaky(s):
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("broken")
        return {"notes": ["b"]}

    app = line({"a": say("a"), "b": flaky}, checkpointer=InMemorySaver())
    try:
        app.invoke(IN, ON)
    except ConnectionError:
        return app.invoke(None, ON)["notes"]
    # end


def memo():
    # begin what is done once
    did = []

    @task
    def pay():
        did.append(1)
        return len(did)

    @entrypoint(checkpointer=InMemorySaver())
    def flow(again):
        n = pay().result()
        if len(tries) == 0:
            tries.append(1)
            raise ConnectionError("broken")
        return [str(n), str(len(did))]

    tries = []
    try:
        flow.invoke(True, ON)
    except ConnectionError:
        return flow.invoke(None, ON)
    # end


BLOCKS = [retry, retry_some, handled, limited, steps_left, cached, siblings, go_on, memo]
