"""The scenarios of bench/README.md on LangGraph for Python with its SQLite saver, or its PostgreSQL saver where
BENCH_POSTGRES names a server."""

import json
import operator
import os
import random
import signal
import sqlite3
import sys
import threading
import time
from typing import Annotated, TypedDict

import psycopg
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import Send

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Counter(TypedDict):
    n: Annotated[int, operator.add]


class Conversation(TypedDict):
    messages: Annotated[list, add_messages]
    documents: list[str]


def words(n):
    out = ""
    while len(out) < n:
        out += "".join(random.choices(LETTERS, k=random.randint(1, 9))) + " "
    return out[:n]


class Watch:
    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def per(self, n):
        return {
            "wall_us": (time.perf_counter() - self.wall) * 1e6 / n,
            "cpu_us": (time.process_time() - self.cpu) * 1e6 / n,
        }


def saver(folder):
    address = os.environ.get("BENCH_POSTGRES")
    if address:
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool

        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema(folder)}")
        settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row, "options": f"-csearch_path={schema(folder)}"}
        store = PostgresSaver(ConnectionPool(address, min_size=1, max_size=8, kwargs=settings, timeout=600, open=True))
        store.setup()
        return store
    connection = sqlite3.connect(os.path.join(folder, "threads.db"), check_same_thread=False, timeout=60)
    return SqliteSaver(connection)


def schema(folder):
    return os.path.basename(folder).replace("-", "_")


def size(folder):
    if "BENCH_POSTGRES" in os.environ:
        with psycopg.connect(os.environ["BENCH_POSTGRES"]) as connection:
            return int(
                connection.execute(
                    "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                    "WHERE n.nspname = %s AND c.relkind IN ('r', 'S')",
                    (schema(folder),),
                ).fetchone()[0]
            )
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))


def close(store):
    if "BENCH_POSTGRES" in os.environ:
        store.conn.close()
        return
    store.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.conn.close()


def line(state, nodes, store=None):
    graph = StateGraph(state)
    last = START
    for i, node in enumerate(nodes):
        name = f"n{i:05}"
        graph.add_node(name, node)
        graph.add_edge(last, name)
        last = name
    graph.add_edge(last, END)
    return graph.compile(checkpointer=store)


def options(thread):
    return {"configurable": {"thread_id": thread}, "recursion_limit": 1000}


def chain(n, folder, store=None):
    app = line(Counter, [lambda s: {"n": 1}] * 100, store)
    watch = Watch()
    for i in range(n):
        got = app.invoke({"n": 0}, options(str(i)), durability="sync" if store else None)
        assert got["n"] == 100, got
    return watch.per(n * 100)


def durable(n, folder):
    store = saver(folder)
    out = chain(n, folder, store)
    close(store)
    return out | {"bytes_per_step": size(folder) / (n * 100)}


def fanout(n, folder):
    graph = StateGraph(Counter)
    graph.add_node("worker", lambda s: {"n": 1})
    graph.add_node("merge", lambda s: {})
    graph.add_conditional_edges(START, lambda s: [Send("worker", s) for _ in range(100)], ["worker"])
    graph.add_edge("worker", "merge")
    graph.add_edge("merge", END)
    app = graph.compile()
    watch = Watch()
    for _ in range(n):
        assert app.invoke({"n": 0})["n"] == 100
    return watch.per(n * 100)


def waits(n, _):
    graph = StateGraph(Counter)

    def node(s):
        time.sleep(0.2)
        return {"n": 1}

    for i in range(8):
        graph.add_node(str(i), node)
        graph.add_edge(START, str(i))
        graph.add_edge(str(i), END)
    app = graph.compile()
    watch = Watch()
    for _ in range(n):
        assert app.invoke({"n": 0})["n"] == 8
    return watch.per(n)


def compile(n, _):
    nodes = [lambda s: {"n": 1}] * n
    watch = Watch()
    line(Counter, nodes)
    return watch.per(1)


def conversation(store):
    idle = lambda s: {}
    documents = lambda s: {"documents": [words(256) for _ in range(4)]}
    answer = lambda s: {"messages": [AIMessage(words(400))]}
    return line(Conversation, [idle, idle, documents, idle, idle, idle, answer], store)


def say():
    return {"messages": [HumanMessage(words(400))]}


def grow(n, folder):
    store = saver(folder)
    app, out, whole = conversation(store), {}, Watch()
    for i in range(0, n, 10):
        ten = Watch()
        for _ in range(10):
            app.invoke(say(), options("one"))
        if i == 0:
            out["first_cpu_us"] = ten.per(10)["cpu_us"]
        if i == n - 10:
            out["last_cpu_us"] = ten.per(10)["cpu_us"]
    out |= whole.per(n)
    close(store)
    return out | {"bytes": size(folder)}


def side(n, do):
    faults = []

    def one(i):
        try:
            do(i)
        except Exception as fault:  # reported below
            faults.append(fault)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if faults:
        raise faults[0]


def threads(n, folder):
    store = saver(folder)
    app = conversation(store)
    watch = Watch()

    def one(i):
        for _ in range(10):
            app.invoke(say(), options(str(i)))

    side(n, one)
    out = watch.per(n * 10)
    close(store)
    return out | {"bytes": size(folder)}


def meet(n, folder):
    store = saver(folder)
    app = conversation(store)
    told = [0]
    for _ in range(n):

        def one(_):
            app.invoke(say(), options("one"))
            told[0] += 2

        side(2, one)
    kept = len(app.get_state(options("one")).values["messages"])
    close(store)
    return {"acknowledged": told[0], "kept": kept}


def sibling(_, folder):
    store = saver(folder)
    ran, lock, graph = {}, threading.Lock(), StateGraph(Counter)

    def node(name):
        def run(s):
            with lock:
                ran[name] = ran.get(name, 0) + 1
                first = ran[name] == 1
            if name == "d" and first:
                time.sleep(0.5)
                raise RuntimeError("the first time it fails")
            return {"n": 1}

        return run

    for name in "abcd":
        graph.add_node(name, node(name))
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    app = graph.compile(checkpointer=store)
    try:
        app.invoke({"n": 0}, options("one"))
        raise AssertionError("the failing sibling did not fail")
    except RuntimeError:
        pass
    assert app.invoke(None, options("one"))["n"] == 4
    return {"runs_of_finished": (ran["a"] + ran["b"] + ran["c"]) / 3}


def kill(_, folder, again=False):
    store = saver(folder)

    def node(i):
        def run(s):
            if i == 5 and not again:
                os.kill(os.getpid(), signal.SIGKILL)
            with open(os.path.join(folder, "ran"), "a") as f:
                print(i, file=f)
            return {"n": 1}

        return run

    app = line(Counter, [node(i) for i in range(10)], store)
    app.invoke(None if again else {"n": 0}, options("one"), durability="sync")
    with open(os.path.join(folder, "ran")) as f:
        ran = f.read().split()
    return {"runs_of_finished": sum(ran.count(str(i)) for i in range(5)) / 5, "nodes": len(set(ran))}


def resume(_, folder):
    return kill(_, folder, again=True)


if __name__ == "__main__":
    scenario, n, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    run = globals().get(scenario)
    print(json.dumps(run(n, folder) if run else None))
