"""What each step of the training reads: pairs for the judge, queries with passages for the search, plain texts."""

import random

import numpy as np
import torch

from data import KEYWORDS, SHARE
from inputs import END, PAD

JUDGED = 8  # passages of a query for the judge; the first one is right, if one is
SEARCHED = 4  # passages of a query for the search; the first one is right
NOTHING = np.zeros(0, np.int32)


def pad(sequences, multiple=8):
    """Returns ids and mask of sequences as tensors of one length."""
    length = -(-max(map(len, sequences)) // multiple) * multiple
    ids = np.full((len(sequences), length), PAD, np.int32)
    mask = np.zeros((len(sequences), length), np.uint8)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


def pad_pairs(pairs):
    """Returns ids, segments and mask of pairs of ids and segments."""
    ids, mask = pad([ids for ids, _ in pairs], 16)
    segments = pad([segments for _, segments in pairs], 16)[0]
    return ids, segments * mask, mask  # the padding of segments is no segment


def lots(numbers, size, length, mixed=16):
    """Yields for ever lots of numbers of about one length, in random order. numbers makes those of a round."""
    while True:
        order = numbers()
        if len(order) < 2:
            raise SystemExit("too few groups or texts for a lot")
        for start in range(0, len(order), mixed * size):
            block = sorted(order[start : start + mixed * size], key=length)
            cut = [block[at : at + size] for at in range(0, len(block), size)]
            random.shuffle(cut)
            yield from (lot for lot in cut if len(lot) >= max(2, min(size, len(order)) // 2))


def shuffled(count):
    return random.sample(range(count), count)


class Batches:
    """Makes the batches. tokens has the ids of passages, titles, queries, and the sequences for the search."""

    def __init__(self, data, tokens, mined, sequences, options):
        self.data, self.tokens, self.mined, self.sequences, self.options = data, tokens, mined, sequences, options
        hard = [len(group.negatives) + sum(map(len, lists[:2])) for group, lists in zip(data.groups, mined)]
        self.usable = [i for i, count in enumerate(hard) if count >= 3]

    def round(self, with_right=False):
        groups = self.data.groups
        chosen = [i for i in self.usable if random.random() < SHARE[groups[i].kind]]
        chosen = [i for i in chosen if groups[i].positives or not with_right]
        random.shuffle(chosen)
        return chosen

    def negatives(self, i, count, own):
        """Returns wrong passages of a group, at most own of them from the group itself."""
        group = self.data.groups[i]
        by_words, by_meaning, all_of_set = self.mined[i]
        chosen = random.sample(group.negatives, min(len(group.negatives), own, count))
        for ranked, share in ((by_words, (count + 1) // 2), (by_meaning, count // 2)):
            ranked = ranked[:7] if random.random() < 0.6 else ranked
            left = [passage for passage in ranked if passage not in chosen]
            chosen += random.sample(left, min(len(left), share, count - len(chosen)))
        for _ in range(50):
            if len(chosen) == count:
                break
            other = random.choice(all_of_set) if random.random() < 0.8 else random.randrange(len(self.data.passages))
            if other not in chosen and other not in group.positives:
                chosen.append(other)
        return chosen

    def judged(self, i):
        """Returns the pairs of a group and whether the first one is right."""
        group = self.data.groups[i]
        right = bool(group.positives) and random.random() >= self.options.unanswerable
        passages = self.negatives(i, JUDGED - right, JUDGED - 1 if group.hard else 4)
        if right:
            passages.insert(0, random.choice(group.positives))
        titled = group.kind != KEYWORDS and random.random() < 0.7
        pairs = []
        for passage in passages:
            text = self.tokens.passages[passage]
            if len(text) > 60 and random.random() < 0.25 and passage not in group.positives:
                start = random.randrange(len(text) - 40)  # a wrong passage may be a window
                text = text[start : start + random.randint(40, 250)]
            title = self.tokens.titles[passage] if titled else NOTHING
            pairs.append(self.sequences.judge(self.tokens.queries[i], title, text, self.options.pair_tokens))
        return pairs, float(right)

    def longest(self, i):
        group, (by_words, by_meaning, _) = self.data.groups[i], self.mined[i]
        passages = group.positives + by_words[:4] + by_meaning[:4]
        return max((len(self.tokens.passages[passage]) for passage in passages), default=0)

    def both_tasks(self):
        lot, tokens, translations = self.options.lot, self.tokens, self.tokens.translations
        judge = lots(self.round, lot, self.longest)
        search = lots(lambda: self.round(with_right=True), lot, self.longest)
        line = lots(lambda: shuffled(len(tokens.lines)), 2 * lot, lambda i: len(tokens.lines[i]))
        pair = lots(lambda: shuffled(len(translations)), 2 * lot, lambda i: len(translations[i][0]))
        while True:
            groups = [group for group in map(self.judged, next(judge)) if len(group[0]) == JUDGED]
            queries, passages = [], []
            for i in next(search):
                chosen = [random.choice(self.data.groups[i].positives), *self.negatives(i, SEARCHED - 1, 2)]
                if len(chosen) == SEARCHED:
                    queries.append(i)
                    passages += chosen
            lines = next(line)
            pairs = next(pair) if translations else []
            yield {
                "pairs": pad_pairs([pair for group in groups for pair in group[0]]),
                "right": torch.tensor([group[1] for group in groups]),
                "queries": torch.tensor(queries),
                "query_ids": pad([tokens.search_queries[i] for i in queries]),
                "passages": torch.tensor(passages),
                "passage_ids": pad([tokens.search_passages[i] for i in passages]),
                "wrong": torch.tensor([self.wrong(i, row, passages) for row, i in enumerate(queries)]),
                "lines": torch.tensor(lines),
                "line_ids": pad([tokens.lines[i] for i in lines]),
                "translations": torch.tensor(pairs),
                "translation_ids": [pad([translations[i][side] for i in pairs]) for side in (0, 1) if pairs],
            }

    def wrong(self, i, row, passages):
        right = self.data.groups[i].positives
        return [passage not in right or at == row * SEARCHED for at, passage in enumerate(passages)]

    def plain(self):
        return map(pad, lots(self.plain_texts, 10 * self.options.lot, len))

    def plain_texts(self):
        """Passages, some of them cut, queries and lines."""
        tokens = self.tokens
        texts = []
        for i in shuffled(len(tokens.search_passages))[:6000]:
            text, length = tokens.search_passages[i], random.randint(32, 220)
            texts.append(text if len(text) <= length else np.append(text[:length], END).astype(np.int32))
        for source, count in ((tokens.search_queries, 3000), (tokens.lines, 7000)):
            texts += [source[i] for i in shuffled(len(source))[:count]]
        random.shuffle(texts)
        return texts
