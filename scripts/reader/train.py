"""Trains the student: six layers of the teacher that find and judge passages. README.md says how to run it."""

import argparse
import pathlib
import random
import time
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F

import data as texts
from batches import JUDGED, SEARCHED, Batches, pad
from evaluate import check
from inputs import MAX_QUERY, MAX_TITLE, Sequences, load_tokenizer
from mine import mine
from model import Encoder, copy_weights, mean_of_tokens, read_weights, write_weights

LAYERS = (0, 2, 4, 7, 9, 11)  # of the teacher, which the student begins with
TARGETS = (1, 3, 5, 7, 9, 11)  # layers of the teacher whose states the student's layers learn
LAYER_RATE, TASK_RATE = 4e-4, 2.5e-4
TEMPERATURE = 0.02
JUDGE_TOKENS = 131_072  # at a time, for the memory
CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
BEGUN = time.time()


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("teacher", type=pathlib.Path, help="folder of the teacher: e5.npz, tokenizer.json.xz")
    add("out", type=pathlib.Path, help="folder for the weights")
    add("--start", type=pathlib.Path, help="go on from the weights in this folder")
    add("--layer-seconds", type=float, default=65, help="for the first part, which copies the teacher")
    add("--task-seconds", type=float, default=170, help="for the second part, which learns both tasks")
    add("--texts", type=pathlib.Path, help="file of passages, groups and lines (data.json.xz)")
    add("--candidates", nargs="*", default=[], help="files of queries with passages that a search found")
    add("--translations", nargs="*", default=[], help="files of texts in several languages")
    add("--long-share", type=float, default=0, help="share of passages that are joined with their neighbours too")
    add("--long-characters", type=int, default=1500, help="length of joined passages")
    add("--unanswerable", type=float, default=0, help="share of queries whose right passage the judge never sees")
    add("--never", nargs="*", default=[], help="files of evaluated questions, which must not be in the data")
    add("--passage-tokens", type=int, default=256, help="of a passage for the search")
    add("--pair-tokens", type=int, default=320, help="of a query and a passage for the judge")
    add("--check", type=pathlib.Path, help="file of XQuAD (xq.json.xz), which the weights are checked with at the end")
    add("--lot", type=int, default=96, help="queries of a step for each task; twice as many lines")
    add("--report", type=int, default=100, help="steps from one line of figures to the next")
    add("--workers", type=int, default=12 if CUDA else 0, help="processes that make batches")
    add("--seed", type=int, default=1)
    return parser.parse_args()


def say(*words):
    print(f"[{time.time() - BEGUN:6.1f}]", *words, flush=True)


def to_device(tensors):
    return [tensor.to(DEVICE, non_blocking=True).long() for tensor in tensors]


def mixed_precision():
    return torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=CUDA)


@torch.no_grad()
def embed(model, sequences, tokens=524_288 if CUDA else 16_384):
    """Returns the vectors of sequences, which are run in lots of about one length."""
    model.eval()
    order = sorted(range(len(sequences)), key=lambda i: -len(sequences[i]))
    out = torch.zeros(len(sequences), 384, device=DEVICE)
    while order:
        size = max(1, tokens // (len(sequences[order[0]]) + 8))
        lot, order = order[:size], order[size:]
        out[lot] = model.search(*to_device(pad([sequences[i] for i in lot]))).float()
    return out


def tokenize(data, sequences, limit):
    title = sequences.batch([passage.title for passage in data.passages], MAX_TITLE)
    passage = sequences.batch([passage.text for passage in data.passages], 480)
    query = sequences.batch([group.query for group in data.groups], MAX_QUERY)
    line = sequences.batch(data.lines, 160)
    sides = [sequences.batch([pair[side] for pair in data.translations], 250) for side in (0, 1)]
    use = (sequences.search_query, lambda text: sequences.search_passage([], text))
    return SimpleNamespace(
        titles=title,
        passages=passage,
        queries=query,
        search_queries=[sequences.search_query(q) for q in query],
        search_passages=[sequences.search_passage(t, p, limit) for t, p in zip(title, passage)],
        lines=[use[i % 2](text) for i, text in enumerate(line)],
        translations=[tuple(map(use[1], pair)) for pair in zip(*sides)],
    )


class Feed(torch.utils.data.IterableDataset):
    """Batches from several processes, each with its own order."""

    def __init__(self, batches, seed):
        self.batches, self.seed = batches, seed

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        random.seed(1000 * self.seed + (worker.id if worker else 0))
        return iter(self.batches())


def feed(batches, options):
    return iter(torch.utils.data.DataLoader(Feed(batches, options.seed), batch_size=None, num_workers=options.workers))


def progress(seconds):
    """Yields the number of each step and what share of the time is over."""
    begun, number = time.time(), 0
    while time.time() < begun + seconds:
        yield number, (time.time() - begun) / seconds
        number += 1


def optimizer_for(student):
    """What the teacher lacks learns three times as fast. Matrices decay."""
    groups = {}
    for name, value in student.named_parameters():
        new = name.startswith(("pool", "head", "seg"))
        if not name.startswith("word"):
            groups.setdefault((new, value.ndim >= 2 and not new), []).append(value)
    rows = [
        {"params": values, "weight_decay": 0.01 if decays else 0, "factor": 3 if new else 1}
        for (new, decays), values in groups.items()
    ]
    return torch.optim.AdamW(rows, lr=LAYER_RATE, betas=(0.9, 0.98), fused=CUDA)


def step(student, optimizer, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate * group["factor"]
    torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def same_order(got, want):
    return F.kl_div(F.log_softmax(got, 1), F.log_softmax(want, 1), reduction="batchmean", log_target=True)


def same_neighbours(got, want):
    """Whether the other texts of the lot come in the order that they have for the teacher."""
    self = torch.eye(len(got), device=DEVICE, dtype=torch.bool)
    return same_order(*((x @ x.T / TEMPERATURE).masked_fill(self, -1e4) for x in (got, want)))


def far(got, want, mean):
    """One minus the cosine, without the direction that all vectors of the teacher share."""
    return 1 - (F.normalize(got - mean, dim=-1) * F.normalize(want - mean, dim=-1)).sum(1).mean()


def train_layers(run, options):
    """The first part: each layer, the vectors and their order become like the teacher's."""
    batches = feed(run.batches.plain, options)
    for number, done in progress(options.layer_seconds):
        ids, mask = to_device(next(batches))
        with torch.no_grad():
            wanted = [x for layer, x in enumerate(run.teacher.states(ids, mask)) if layer in TARGETS]
        with mixed_precision():
            got = list(run.student.states(ids, mask))
        weight = mask[..., None].float()
        error = sum(
            ((a.float() - b.float()).square() * weight).sum() / (b.float().square() * weight).sum()
            for a, b in zip(got, wanted)
        ) / len(wanted)
        vectors, targets = mean_of_tokens(got[-1], mask), mean_of_tokens(wanted[-1], mask)
        distance, order = far(vectors, targets, run.mean), same_neighbours(vectors, targets)
        (2 * error + 2 * distance + 0.5 * order).backward()
        warm = min(1, (done + 1e-3) / 0.08)
        step(run.student, run.optimizer, warm * (LAYER_RATE * (1 - done) + TASK_RATE * done))
        if number % options.report == 0:
            say(f"layers {number}: error {error:.4f}, distance {distance:.4f}, order {order:.4f}, done {done:.2f}")


def judge_loss(run, batch):
    """Learns the judge on a batch and returns the share of queries whose right passage came first."""
    ids, segments, mask = batch["pairs"]
    right = batch["right"].to(DEVICE)
    groups, first = len(right), 0.0
    at_a_time = max(1, JUDGE_TOKENS // (ids.shape[1] * JUDGED))
    for start in range(0, groups, at_a_time):
        part = slice(start * JUDGED, (start + at_a_time) * JUDGED)
        has_right = right[start : start + at_a_time]
        with mixed_precision():
            scores = run.student.judge(*to_device((ids[part], segments[part], mask[part])))
        scores = scores.float().view(-1, JUDGED)
        labels = torch.zeros_like(scores)
        labels[:, 0] = has_right
        best = -(F.log_softmax(scores, 1)[:, 0] * has_right).sum() / right.sum().clamp(min=1)
        each = F.binary_cross_entropy_with_logits(scores, labels, pos_weight=torch.tensor(3.0, device=DEVICE))
        (best + 0.6 * each * len(has_right) / groups).backward()
        first += float(((scores.argmax(1) == 0) * has_right).sum())
    return first / max(1.0, float(right.sum()))


def search_loss(run, batch):
    queries, passages, lines = (batch[name].to(DEVICE) for name in ("queries", "passages", "lines"))
    with mixed_precision():
        query, passage, line = (
            run.student.search(*to_device(batch[name])) for name in ("query_ids", "passage_ids", "line_ids")
        )
        sides = [run.student.search(*to_device(ids)) for ids in batch["translation_ids"]]
    want = SimpleNamespace(query=run.queries[queries], passage=run.passages[passages], line=run.lines[lines])
    scores, wanted = query @ passage.T / TEMPERATURE, want.query @ want.passage.T / TEMPERATURE
    own = torch.arange(len(queries), device=DEVICE) * SEARCHED
    # A passage of another query may be right too, if the teacher puts it before the right one.
    cosines = run.centred_queries[queries] @ run.centred_passages[passages].T
    others = torch.arange(len(passages), device=DEVICE)[None] // SEARCHED != own[:, None] // SEARCHED
    doubtful = ~batch["wrong"].to(DEVICE) | (others & (cosines > cosines.gather(1, own[:, None])))
    loss = F.cross_entropy(scores.masked_fill(doubtful, -1e4), own) + 0.5 * same_order(scores, wanted)
    loss = loss + 2 * (far(query, want.query, run.mean) + far(passage, want.passage, run.mean))
    loss = loss + 2 * far(line, want.line, run.mean) + 0.3 * same_neighbours(line, want.line)
    if sides:
        target = run.translations[batch["translations"].to(DEVICE)]
        match = torch.arange(len(target), device=DEVICE)
        scores = sides[0] @ sides[1].T / TEMPERATURE
        loss = loss + (F.cross_entropy(scores, match) + F.cross_entropy(scores.T, match)) / 2
        loss = loss + 2 * sum(far(side, target, run.mean) for side in sides)
    return loss


def train_tasks(run, options):
    """The second part: search and judge, at every step."""
    batches = feed(run.batches.both_tasks, options)
    for number, done in progress(options.task_seconds):
        batch = next(batches)
        run.student.dropout = 0.1
        first = judge_loss(run, batch)
        run.student.dropout = 0.0
        loss = search_loss(run, batch)
        loss.backward()
        step(run.student, run.optimizer, TASK_RATE * max(0.01, min(1, (done + 1e-3) / 0.03) * (1 - done) ** 0.8))
        if number % options.report == 0:
            say(f"tasks {number}: judge has the right one first {first:.3f}, search loss {loss:.3f}, done {done:.2f}")


def load_data(options):
    data = texts.load(options.texts) if options.texts else texts.Data()
    for path in options.candidates:
        texts.add_candidates(data, path)
    for path in options.translations:
        texts.add_translations(data, path)
    texts.refuse_evaluated(data, options.never)
    texts.add_long(data, options.long_share, options.long_characters)
    return data


def prepare(options):
    """Reads data and teacher and returns all that the two parts use."""
    data = load_data(options)
    sequences = Sequences(load_tokenizer(options.teacher / "tokenizer.json.xz"))
    tokens = tokenize(data, sequences, options.passage_tokens)
    say(len(data.passages), "passages,", len(data.groups), "groups,", len(data.lines), "lines")
    weights = read_weights(options.teacher / "e5.npz")
    words = len(weights["word.weight"])
    run = SimpleNamespace(sequences=sequences, student=Encoder(len(LAYERS), words), teacher=Encoder(12, words))
    copy_weights(run.teacher, weights)
    run.teacher = (run.teacher.half() if CUDA else run.teacher).to(DEVICE).eval()
    copy_weights(run.student, weights, LAYERS)
    if options.start:
        copy_weights(run.student, read_weights(*options.start.glob("s6-part*.npz")))
    run.student.to(DEVICE).word.weight.requires_grad_(False)
    run.optimizer = optimizer_for(run.student)
    run.queries, run.passages, run.lines = (
        embed(run.teacher, part) for part in (tokens.search_queries, tokens.search_passages, tokens.lines)
    )
    run.translations = embed(run.teacher, [pair[0] for pair in tokens.translations])
    run.mean = torch.cat([run.queries, run.passages, run.lines]).mean(0)
    run.centred_queries, run.centred_passages = (
        F.normalize(vectors - vectors.mean(0), dim=-1) for vectors in (run.queries, run.passages)
    )
    mined = mine(data, tokens.queries, tokens.passages, run.centred_queries, run.centred_passages, words)
    run.batches = Batches(data, tokens, mined, sequences, options)
    say("mined;", len(run.batches.usable), "groups are usable")
    return run


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(options.seed)
    torch.multiprocessing.set_sharing_strategy("file_system")  # batches of the workers need no open files
    run = prepare(options)
    run.student.train()
    train_layers(run, options)
    run.student.train()
    train_tasks(run, options)
    write_weights(run.student, options.out)
    say("written")
    if options.check:
        check(run.student, run.sequences, options.check, embed)


if __name__ == "__main__":
    main()
