"""Writes meaning/testdata/reference.json: what the model gives in float32, which the Go package is compared with.

reference.py WEIGHTS_FOLDER OUT
"""

import json
import math
import pathlib
import sys

import numpy as np

from inputs import MAX_QUERY, MAX_TITLE, Sequences, load_tokenizer
from reference_texts import PAIRS, TEXTS

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


def search_case(weights, name, text, ids):
    pooled = forward(weights, ids).mean(0)
    return {
        "name": name,
        "mode": "search",
        "text": text,
        "ids": ids,
        "pooled": [round(float(v), 6) for v in pooled[:16]],
        "norm": round(float(np.linalg.norm(pooled)), 6),
    }


def judge_case(weights, name, query, title, passage, sequence):
    ids, segments = sequence
    first = forward(weights, ids, segments)[0]
    logit = linear(np.tanh(linear(first, weights, "pool")), weights, "head")[0]
    return {
        "name": name,
        "mode": "judge",
        "query": query,
        "title": title,
        "passage": passage,
        "ids": ids,
        "segments": segments,
        "logit": round(float(logit), 6),
    }


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    weights = load(folder)
    (tokenizer,) = folder.glob("tok-*.json.xz")
    sequences = Sequences(load_tokenizer(tokenizer))
    cases = []
    for name, text in TEXTS:
        ids = sequences.ids(text)
        as_query = name.startswith("query")
        ids = sequences.search_query(ids) if as_query else sequences.search_passage([], ids)
        cases.append(search_case(weights, name, text, ids))
    for name, query, title, passage in PAIRS:
        parts = sequences.ids(query)[:MAX_QUERY], sequences.ids(title)[:MAX_TITLE], sequences.ids(passage)
        cases.append(judge_case(weights, name, query, title, passage, sequences.judge(*parts)))
    lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
    out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(len(cases), "cases in", out)


if __name__ == "__main__":
    main()
