"""Hard wrong passages for each query: those that share its rare words (BM25), and those near to it for the teacher."""

import numpy as np
import torch

from data import MADE_BY_RULES

FOUND, KEPT = 20, 12  # passages of each of the two lists
ROWS = 256  # queries at a time
COPY = 0.93  # a passage with this cosine to the right one says the same


def count_pieces(texts, words):
    """Returns three arrays: a text, a piece of it, and how often it has the piece."""
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    both, counts = np.unique(rows * words + np.concatenate(texts), return_counts=True)
    return both // words, both % words, counts


def word_weights(texts, words):
    """Returns the BM25 weights of the pieces of texts as a sparse matrix [text][piece]."""
    rows, pieces, counts = count_pieces(texts, words)
    length = np.bincount(rows, counts, len(texts))
    length /= length.mean()
    containing = np.bincount(pieces, minlength=words)
    rarity = np.log(1 + (len(texts) - containing + 0.5) / (containing + 0.5))
    values = rarity[pieces] * counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * length[rows]))
    values = torch.from_numpy(values.astype(np.float32))
    at = torch.from_numpy(np.stack([rows, pieces]))
    return torch.sparse_coo_tensor(at, values, (len(texts), words), check_invariants=True).coalesce()


def one_hot(queries, words):
    rows, pieces, _ = count_pieces(queries, words)
    out = torch.zeros(words, len(queries))
    out[pieces, rows] = 1
    return out


def mine(data, query_tokens, passage_tokens, query_vectors, passage_vectors, words):
    """Returns for each group its two lists of wrong passages, and all passages of its set. Vectors are centred."""
    passages_of, groups_of = {}, {}
    for number, passage in enumerate(data.passages):
        passages_of.setdefault(passage.set.split(":")[0], []).append(number)
    for number, group in enumerate(data.groups):
        groups_of.setdefault(group.set.split(":")[0], []).append(number)
    mined = [None] * len(data.groups)
    device = query_vectors.device
    for set_, groups in groups_of.items():
        numbers = passages_of[set_]
        weights = word_weights([passage_tokens[number] for number in numbers], words).to(device)
        vectors = passage_vectors[numbers]
        found = min(FOUND, len(numbers))
        for start in range(0, len(groups), ROWS):
            some = groups[start : start + ROWS]
            by_words = (weights @ one_hot([query_tokens[i] for i in some], words).to(device)).T
            cosines = query_vectors[some] @ vectors.T
            lists = [scores.topk(found).indices.tolist() for scores in (by_words, cosines)]
            cosines = cosines.cpu().numpy()
            for row, i in enumerate(some):
                cosine = dict(zip(numbers, cosines[row]))
                both = [[numbers[at] for at in ranked[row]] for ranked in lists]
                mined[i] = [wrong_only(data, data.groups[i], ranked, cosine) for ranked in both] + [numbers]
    drop_copies(data, mined, passage_vectors)
    return mined


def wrong_only(data, group, ranked, cosine):
    """Leaves out what may be right: passages with a short answer in them, or nearer to the query than the right one."""
    answers = [answer.lower() for answer in group.answers if answer != "@all"]
    short = answers and max(map(len, answers)) < 60
    limit = max((float(cosine[p]) for p in group.positives if p in cosine), default=1.0)
    limit += 0.02 if group.kind in MADE_BY_RULES else 0.05
    kept = []
    for passage in ranked:
        text = data.passages[passage].text.lower()
        if passage in group.positives or passage in group.negatives:
            continue
        if group.set == "stackfaq" and cosine[passage] > limit - 0.3:  # its answers repeat each other
            continue
        if any(answer in text for answer in answers) if short else cosine[passage] > limit:
            continue
        kept.append(passage)
    return kept[:KEPT]


def drop_copies(data, mined, vectors):
    for group, lists in zip(data.groups, mined):
        if group.positives:
            right = vectors[group.positives[0]]
            for ranked in lists[:2]:
                copies = (vectors[ranked] @ right > COPY).tolist()
                ranked[:] = [passage for passage, copy in zip(ranked, copies) if not copy]
