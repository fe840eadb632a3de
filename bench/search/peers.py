"""bm25s: peers.py ENGINE PHASE CORPUS FOLDER, one JSON object out."""

import json
import os
import resource
import sys
import time

AT_LEAST, AT_MOST, DEPTH = 3.0, 50, 100


def cpu():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def size(folder):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(folder) for f in fs)


def repeat(n, do):
    took, rounds, wall, least = [], 0, time.perf_counter(), float("inf")
    while rounds == 0 or (rounds < AT_MOST and time.perf_counter() - wall < AT_LEAST):
        used = cpu()
        for i in range(n):
            begun = time.perf_counter()
            do(i)
            took.append((time.perf_counter() - begun) * 1000)
        rounds += 1
        least = min(least, cpu() - used)  # of the round that other load disturbed least
    wall = time.perf_counter() - wall
    took.sort()
    return {"per_cpu_second": n / least, "per_second": len(took) / wall, "p50": took[len(took) // 2], "p99": took[len(took) * 99 // 100]}


def bm25s_index(corpus, folder):
    import bm25s
    import Stemmer

    wall, used = time.perf_counter(), cpu()
    documents = lines(os.path.join(corpus, "corpus.jsonl"))
    texts = [d.get("title", "") + " " + d["text"] for d in documents]
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
    index = bm25s.BM25()  # its default: Lucene's variant, k1 1.5, b 0.75
    index.index(tokens, show_progress=False)
    index.save(os.path.join(folder, "bm25s"), corpus=[{"id": d["_id"], "text": t} for d, t in zip(documents, texts)])
    wall, used, n = time.perf_counter() - wall, cpu() - used, len(documents)
    return {"per_second": n / wall, "per_cpu_second": n / used, "bytes": size(os.path.join(folder, "bm25s")) / n}


def bm25s_words(corpus, folder):
    import bm25s
    import Stemmer

    index = bm25s.BM25.load(os.path.join(folder, "bm25s"), load_corpus=False)
    index.backend = "numba"
    index.activate_numba_scorer()
    stemmer = Stemmer.Stemmer("english")
    ids = [d["_id"] for d in lines(os.path.join(corpus, "corpus.jsonl"))]
    queries = lines(os.path.join(corpus, "queries.jsonl"))
    texts = [q["text"] for q in queries]

    def tokenize(t):
        return bm25s.tokenize(t, stopwords="en", stemmer=stemmer, show_progress=False)

    def retrieve(tokens):
        return index.retrieve(tokens, k=DEPTH, n_threads=1, show_progress=False, backend_selection="numba")

    retrieve(tokenize(["compiles the scorer", "and the selection"]))
    used = cpu()
    found, scores = retrieve(tokenize(texts))
    first = cpu() - used
    with open(os.path.join(folder, "bm25s-words.trec"), "w") as f:
        for q, row, s in zip(queries, found, scores):
            for rank, (d, score) in enumerate(zip(row, s)):
                if score > 0:
                    f.write(f"{q['_id']} Q0 {ids[d]} {rank + 1} {score:.9g} x\n")
    # All queries in one call, as its authors measure it: tokenized before, and
    # tokenized within.
    tokens = tokenize(texts)
    before = repeat(1, lambda _: retrieve(tokens))
    whole = repeat(1, lambda _: retrieve(tokenize(texts)))
    one = repeat(len(texts), lambda i: retrieve(tokenize([texts[i]])))
    n = len(texts)
    return {
        "per_cpu_second": whole["per_cpu_second"] * n,
        "first_per_cpu_second": n / first,
        "per_second": whole["per_second"] * n,
        "tokenized_per_cpu_second": before["per_cpu_second"] * n,
        "p50": one["p50"],
        "p99": one["p99"],
    }


PHASES = {
    ("bm25s", "index"): bm25s_index,
    ("bm25s", "words"): bm25s_words,
}

if __name__ == "__main__":
    engine, phase, corpus, folder = sys.argv[1:]
    do = PHASES.get((engine, phase))
    print(json.dumps(do(corpus, folder) if do else {}))
