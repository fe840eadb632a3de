# Blocks about threads; threads.go is the same.
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

from common import IN, ON, State, line, lived, say


def memory():
    # begin checkpointer
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_edge(START, "a")
    app = g.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    app.invoke({"topic": "x", "notes": []}, config)
    app.invoke({"topic": "y", "notes": []}, config)
    return app.get_state(config).values["notes"]
    # end


def travel():
    # begin time travel
    app = lived()
    return [" ".join(c.values["notes"]) or "-" for c in app.get_state_history(ON)][:3]
    # end


def seeded():
    # begin thread that begins with an edit
    app = line({"a": say("a")}, checkpointer=InMemorySaver())
    app.update_state(ON, {"topic": "x", "notes": ["seed"]}, as_node="__start__")
    return app.get_state(ON).values["notes"]
    # end


def replay():
    # begin replay
    app = lived()
    old = next(c for c in app.get_state_history(ON) if c.next == ("b",))
    return app.invoke(None, old.config)["notes"]
    # end


def fork():
    # begin fork with a change
    app = lived()
    old = next(c for c in app.get_state_history(ON) if c.next == ("b",))
    branch = app.update_state(old.config, {"notes": ["changed"]})
    return app.invoke(None, branch)["notes"]
    # end


def next_page():
    # begin page of a history
    app = lived()
    page = list(app.get_state_history(ON, limit=1))
    page = list(app.get_state_history(ON, before=page[-1].config, limit=1))
    return page[0].values["notes"]
    # end


def file():
    # begin database
    with SqliteSaver.from_conn_string(":memory:") as saver:
        app = line({"a": say("a")}, checkpointer=saver)
        app.invoke(IN, ON)
        return app.get_state(ON).values["notes"]
    # end


def deleted():
    # begin delete a thread
    saver = InMemorySaver()
    app = line({"a": say("a")}, checkpointer=saver)
    app.invoke(IN, ON)
    saver.delete_thread("1")
    return [str(not app.get_state(ON).values).lower()]
    # end


def at_the_end():
    # begin save at the end
    saver = InMemorySaver()
    app = line({"a": say("a"), "b": say("b")}, checkpointer=saver)
    app.invoke(IN, ON, durability="exit")
    return [str(len(list(saver.list(ON))) < 3).lower()]
    # end


def metadata():
    # begin metadata
    saver = InMemorySaver()
    app = line({"a": say("a")}, checkpointer=saver)
    for user in ["ann", "bob"]:
        app.invoke(IN, {"configurable": {"thread_id": user}, "metadata": {"user": user}})
    return sorted({c.config["configurable"]["thread_id"] for c in saver.list(None, filter={"user": "ann"})})
    # end


def batch():
    # begin batch
    app = line({"a": say("a")})
    return [s["topic"] for s in app.batch([{"topic": t, "notes": []} for t in "xyz"], {"max_concurrency": 2})]
    # end


BLOCKS = [memory, travel, seeded, replay, fork, next_page, file, deleted, at_the_end, metadata, batch]
