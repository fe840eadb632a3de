"""Compares our figures of one run with those of pytrec_eval, by ir-measures.

check_metrics.py CACHE SEARCH: searches SciFact, writes a TREC run, and fails where
a mean differs by 1e-6 or more.
"""

import json
import os
import subprocess
import sys
import tempfile

import ir_measures
from ir_measures import RR, R, nDCG

cache, search = sys.argv[1:]
corpus = os.path.join(cache, "scifact")
with tempfile.TemporaryDirectory() as folder:
    for phase in ("index", "words"):
        subprocess.run([search, "ours", phase, corpus, folder], check=True, stdout=subprocess.DEVNULL)
    run = os.path.join(folder, "ours-words.trec")
    ours = json.loads(subprocess.run([search, "figures", corpus, run], check=True, capture_output=True).stdout)
    qrels = {}
    with open(os.path.join(corpus, "qrels.tsv")) as f:
        for line in list(f)[1:]:
            query, document, gain = line.split()
            qrels.setdefault(query, {})[document] = int(gain)
    found = ir_measures.read_trec_run(run)
    names = {"ndcg_10": nDCG @ 10, "recall_5": R @ 5, "recall_10": R @ 10, "recall_100": R @ 100, "mrr": RR}
    theirs = ir_measures.pytrec_eval.calc_aggregate(list(names.values()), qrels, found)
    for name, measure in names.items():
        print(f"{name}: {ours[name]:.9f}, pytrec_eval {theirs[measure]:.9f}")
        if abs(ours[name] - theirs[measure]) >= 1e-6:
            sys.exit(f"{name} differs")
