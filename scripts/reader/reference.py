"""Rewrites meaning/testdata/reference.json: what the model gives in float32, which the Go package is compared with.

reference.py WEIGHTS_FOLDER FILE

The texts are those of the file. A new case needs "name" and "mode", and "text", or "query", "title" and "passage".
"""

import json
import math
import pathlib
import sys

import numpy as np

from inputs import MAX_QUERY, MAX_TITLE, Sequences, load_tokenizer

HEADS = 12
ERF = np.frompyfunc(math.erf, 1, 1)


def load(folder):
    """Returns the weights as float32. The word embeddings are int8 rows with a scale each."""
    weights = {}
    for path in sorted(folder.glob("s6-part*.npz")):
        with np.load(path) as part:
            weights.update({name: part[name].astype(np.float32) for name in part.files})
    rows = []
    for path in sorted(folder.glob("words-*-int8-part*.npz")):
        with np.load(path) as part:
            rows.append(part["q"].astype(np.float32) * part["s"].astype(np.float32)[:, None])
    weights["word.weight"] = np.concatenate(rows)
    return weights


def layer_norm(x, weights, name):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
    return x * weights[name + ".weight"] + weights[name + ".bias"]


def linear(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def gelu(x):
    return x * (1 + ERF(x / math.sqrt(2)).astype(np.float32)) / 2


def attention(x, weights, name):
    tokens, width = x.shape
    query, key, value = (
        linear(x, weights, f"{name}.{part}").reshape(tokens, HEADS, width // HEADS).transpose(1, 0, 2) for part in "qkv"
    )
    scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(width // HEADS))
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = scores / scores.sum(-1, keepdims=True) @ value
    return linear(mixed.transpose(1, 0, 2).reshape(tokens, width), weights, name + ".o")


def forward(weights, ids, segments=None):
    x = weights["word.weight"][ids] + weights["pos.weight"][: len(ids)]
    if segments is not None:
        x = x + weights["seg.weight"][segments]
    x = layer_norm(x, weights, "n")
    layer = 0
    while f"layers.{layer}.q.weight" in weights:
        name = f"layers.{layer}"
        x = layer_norm(x + attention(x, weights, name), weights, name + ".n1")
        x = layer_norm(x + linear(gelu(linear(x, weights, name + ".a")), weights, name + ".b"), weights, name + ".n2")
        layer += 1
    return x


def search(weights, sequences, case):
    ids = sequences.ids(case["text"])
    as_query = case["name"].startswith("query")
    ids = sequences.search_query(ids) if as_query else sequences.search_passage([], ids)
    pooled = forward(weights, ids).mean(0)
    return {"ids": ids.tolist(), "pooled": rounded(pooled[:16]), "norm": rounded(np.linalg.norm(pooled))}


def judge(weights, sequences, case):
    query, title, passage = (sequences.ids(case[part]) for part in ("query", "title", "passage"))
    ids, segments = sequences.judge(query[:MAX_QUERY], title[:MAX_TITLE], passage)
    first = forward(weights, ids, segments)[0]
    logit = linear(np.tanh(linear(first, weights, "pool")), weights, "head")[0]
    return {"ids": ids.tolist(), "segments": segments.tolist(), "logit": rounded(logit)}


def rounded(values):
    return np.round(np.float64(values), 6).tolist()


def main():
    folder, file = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    weights = load(folder)
    (tokenizer,) = folder.glob("tok-*.json.xz")
    sequences = Sequences(load_tokenizer(tokenizer))
    cases = json.loads(file.read_text(encoding="utf-8"))
    for case in cases:
        case.update((search if case["mode"] == "search" else judge)(weights, sequences, case))
    lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
    file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(len(cases), "cases in", file)


if __name__ == "__main__":
    main()
