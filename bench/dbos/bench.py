"""The scenarios of bench/README.md on DBOS Transact for Python, on SQLite. Its
unit is a workflow of steps: a turn is a workflow, and there is no thread."""

import json
import os
import random
import signal
import sys
import threading
import time

from dbos import DBOS, SetWorkflowID


def words(n):
    out = ""
    while len(out) < n:
        out += "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(1, 9))) + " "
    return out[:n]


class Watch:
    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def per(self, n):
        return {
            "wall_us": (time.perf_counter() - self.wall) * 1e6 / n,
            "cpu_us": (time.process_time() - self.cpu) * 1e6 / n,
        }


@DBOS.step()
def one():
    return 1


@DBOS.step()
def answer():
    return words(400)


@DBOS.step()
def documents():
    return [words(256) for _ in range(4)]


@DBOS.workflow()
def hundred():
    return sum(one() for _ in range(100))


@DBOS.workflow()
def turn(question):
    one(), one(), documents(), one(), one(), one()
    return answer()


@DBOS.step()
def marked(folder, i, dies):
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    with open(os.path.join(folder, "ran"), "a") as f:
        print(i, file=f)
    return 1


@DBOS.workflow()
def ten(folder):
    again = os.path.exists(os.path.join(folder, "died"))
    total = 0
    for i in range(10):
        if i == 5 and not again:
            open(os.path.join(folder, "died"), "w").close()
        total += marked(folder, i, i == 5 and not again)
    return total


def size(folder):
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))


def durable(n, folder):
    hundred()  # the first one sets things up
    watch = Watch()
    for _ in range(n):
        assert hundred() == 100
    return watch.per(n * 100) | {"bytes_per_step": size(folder) / ((n + 1) * 100)}


def threads(n, folder):
    watch, faults = Watch(), []

    def many():
        try:
            for _ in range(10):
                turn(words(400))
        except Exception as fault:
            faults.append(fault)

    all_ = [threading.Thread(target=many) for _ in range(n)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()
    if faults:
        raise faults[0]
    return watch.per(n * 10) | {"bytes": size(folder)}


def kill(_, folder):
    with SetWorkflowID("one"):
        ten(folder)


def resume(_, folder):
    assert DBOS.retrieve_workflow("one").get_result() == 10
    with open(os.path.join(folder, "ran")) as f:
        ran = f.read().split()
    return {"runs_of_finished": sum(ran.count(str(i)) for i in range(5)) / 5, "nodes": len(set(ran))}


if __name__ == "__main__":
    scenario, n, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    run = {"durable": durable, "threads": threads, "kill": kill, "resume": resume}.get(scenario)
    if run is None:
        print("null")
        sys.exit()
    DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{folder}/dbos.db", "log_level": "ERROR"})
    DBOS.launch()
    print(json.dumps(run(n, folder)))
    DBOS.destroy()
