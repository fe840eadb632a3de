# Blocks about people; people.go is the same.
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from common import IN, ON, State, line, say


def asks():
    # begin interrupt and resume
    def ask(s):
        return {"notes": [interrupt("go on?")]}

    g = StateGraph(State)
    g.add_node("ask", ask)
    g.add_edge(START, "ask")
    app = g.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    app.invoke(IN, config)
    return app.invoke(Command(resume="yes"), config)["notes"]
    # end


def two_questions():
    # begin two questions
    def ask(name):
        return lambda s: {"notes": [interrupt(name)]}

    g = StateGraph(State)
    g.add_node("a", ask("a"))
    g.add_node("b", ask("b"))
    g.add_edge(START, "a")
    g.add_edge(START, "b")
    app = g.compile(checkpointer=InMemorySaver())
    asked = app.invoke(IN, ON)["__interrupt__"]
    return app.invoke(Command(resume={q.id: q.value.upper() for q in asked}), ON)["notes"]
    # end


def valid_answer():
    # begin answer that is checked
    def ask(s):
        answer = interrupt("yes or no?")
        while answer not in ("yes", "no"):
            answer = interrupt("please say yes or no")
        return {"notes": [answer]}

    app = line({"ask": ask}, checkpointer=InMemorySaver())
    app.invoke(IN, ON)
    asked = app.invoke(Command(resume="perhaps"), ON)["__interrupt__"]
    return [str(len(asked) > 0).lower()] + app.invoke(Command(resume="no"), ON)["notes"]
    # end


def stop_before():
    # begin breakpoint before
    app = line({"a": say("a"), "b": say("b")}, checkpointer=InMemorySaver(), interrupt_before=["b"])
    first = app.invoke(IN, ON)["notes"]
    return first + app.invoke(None, ON)["notes"]
    # end


def stop_after():
    # begin breakpoint after
    app = line({"a": say("a"), "b": say("b")}, checkpointer=InMemorySaver(), interrupt_after=["a"])
    first = app.invoke(IN, ON)["notes"]
    return first + app.invoke(None, ON)["notes"]
    # end


def what_is_next():
    # begin what is next
    app = line({"a": say("a"), "b": say("b")}, checkpointer=InMemorySaver(), interrupt_before=["b"])
    app.invoke(IN, ON)
    return app.get_state(ON).next
    # end


def edit():
    # begin edit at a stop
    app = line({"a": say("a"), "b": say("b")}, checkpointer=InMemorySaver(), interrupt_before=["b"])
    app.invoke(IN, ON)
    app.update_state(ON, {"notes": ["edited"]})
    return app.invoke(None, ON)["notes"]
    # end


def edit_as():
    # begin edit as a node
    app = line({"a": say("a"), "b": say("b"), "c": say("c")}, checkpointer=InMemorySaver(), interrupt_before=["b"])
    app.invoke(IN, ON)
    app.update_state(ON, {"notes": ["instead of b"]}, as_node="b")
    return app.invoke(None, ON)["notes"]
    # end


def resume_with_update():
    # begin resume with an update
    def ask(s):
        return {"notes": [interrupt("?")]}

    app = line({"ask": ask}, checkpointer=InMemorySaver())
    app.invoke(IN, ON)
    return app.invoke(Command(resume="yes", update={"notes": ["by the way"]}), ON)["notes"]
    # end


def ask_inside():
    # begin question in a subgraph
    def ask(s):
        return {"notes": [interrupt("?")]}

    app = line({"a": say("a"), "inner": line({"ask": ask})}, checkpointer=InMemorySaver())
    app.invoke(IN, ON)
    return app.invoke(Command(resume="yes"), ON)["notes"][-1:]
    # end


BLOCKS = [asks, two_questions, valid_answer, stop_before, stop_after, what_is_next, edit, edit_as, resume_with_update, ask_inside]
