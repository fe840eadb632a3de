# Blocks about streams; streams.go is the same.
from langchain_core.language_models import GenericFakeChatModel
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph

from common import IN, State, line, say


def stream():
    # begin streaming
    g = StateGraph(State)
    g.add_node("a", say("a"))
    g.add_edge(START, "a")
    out = []
    for update in g.compile().stream(IN, stream_mode="updates"):
        out += update["a"]["notes"]
    return out
    # end


def values():
    # begin values
    out = []
    for state in line({"a": say("a"), "b": say("b")}).stream(IN, stream_mode="values"):
        out.append(str(len(state["notes"])))
    return out
    # end


def custom():
    # begin custom events
    def work(s):
        get_stream_writer()("half")
        return {"notes": ["done"]}

    return list(line({"work": work}).stream(IN, stream_mode="custom"))
    # end


def tokens():
    # begin tokens
    model = GenericFakeChatModel(messages=iter(["one two"]))

    def talk(s):
        return {"notes": [model.invoke(s["topic"]).content]}

    out = []
    for token, _ in line({"talk": talk}).stream(IN, stream_mode="messages"):
        out.append(token.content)
    return ["".join(out)]
    # end


def inside():
    # begin events of subgraphs
    app = line({"outer": line({"inner": say("deep")})})
    out = []
    for path, update in app.stream(IN, stream_mode="updates", subgraphs=True):
        if path:
            out.append(path[0].split(":")[0] + "/" + next(iter(update)))
    return out
    # end


def task_events():
    # begin events of tasks
    out = []
    for event in line({"a": say("a"), "b": say("b")}).stream(IN, stream_mode="tasks"):
        if "input" in event:
            out.append(event["name"])
    return out
    # end


BLOCKS = [stream, values, custom, tokens, inside, task_events]
