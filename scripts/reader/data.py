"""The texts for training, and what other files add to them.

data.json.xz holds {"P": passages, "G": groups, "M": lines}. A passage is [set, title, text], a group is
[set, query, right passages, wrong passages, answers, kind], where passages are numbers. Lines are sentences in many
languages.
"""

import json
import lzma
import pathlib
import random
import re
from dataclasses import dataclass, field
from typing import NamedTuple

# How often a group is used in a round, by its kind: a person's question, a question of a person without a right
# passage, and questions made by rules from a document, from a command's description and from headings.
SHARE = {"h": 1.0, "u": 0.5, "d": 0.8, "t": 0.5, "k": 0.3}
KEYWORDS = "k"
MADE_BY_RULES = "dtk"


class Passage(NamedTuple):
    set: str
    title: str
    text: str


@dataclass
class Group:
    set: str
    query: str
    positives: list
    negatives: list
    answers: list
    kind: str
    hard: bool = False  # whether its own wrong passages are all worth to be shown


@dataclass
class Data:
    passages: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    translations: list = field(default_factory=list)  # pairs of texts
    numbers: dict = field(default_factory=dict)  # of the passages that were added

    def add_passage(self, passage):
        if passage not in self.numbers:
            self.numbers[passage] = len(self.passages)
            self.passages.append(passage)
        return self.numbers[passage]


def load(path):
    with lzma.open(path, "rt", encoding="utf-8") as file:
        raw = json.load(file)
    groups = [Group(*group) for group in raw["G"]]
    for group in groups:
        group.hard = group.set == "dstc"
    passages = [Passage(set_, title or "", text) for set_, title, text in raw["P"]]
    return Data(passages, groups, raw["M"])


def rows(path):
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise SystemExit(f"{path}:{number}: {error}") from error


def add_candidates(data, path):
    """Adds lines {"query", "positives", "negatives", "lang"}; a passage is {"title", "text"}.

    The wrong passages are candidates that a search found. Without a right passage the query is unanswerable.
    """
    for row in rows(path):
        set_ = f"{pathlib.Path(path).stem}-{row.get('lang', 'en')}"
        right, wrong = (
            [data.add_passage(Passage(set_, text.get("title", ""), text["text"])) for text in row.get(side, [])]
            for side in ("positives", "negatives")
        )
        data.groups.append(Group(set_, row["query"], right, wrong, [], "h" if right else "u", hard=True))


def add_translations(data, path):
    """Adds lines {"texts": [text, the same in another language, …]}. The first is the best one to learn from."""
    for row in rows(path):
        first, *others = row["texts"]
        data.translations += [(first, other) for other in others]
        data.lines += others


def add_long(data, share, length):
    """Joins a share of the passages with their neighbours of the same title, up to length characters.

    A joined passage is right where one of its parts is.
    """
    joined = {}
    for start in range(len(data.passages)):
        if random.random() >= share:
            continue
        first, end = data.passages[start], start + 1
        text = first.text
        while end < len(data.passages) and data.passages[end][:2] == first[:2]:
            if len(text) + len(data.passages[end].text) > length:
                break
            text += "\n\n" + data.passages[end].text
            end += 1
        if end > start + 1:
            number = data.add_passage(first._replace(text=text))
            for part in range(start, end):
                joined.setdefault(part, []).append(number)
    for group in data.groups:
        group.positives += [long for part in group.positives for long in joined.get(part, [])]


def refuse_evaluated(data, paths):
    """Ends the program if a question for training stands in a file of evaluated questions (JSON or JSON lines)."""
    for path in paths:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        strings = {json.loads(s).strip().lower() for s in re.findall(r'"(?:[^"\\]|\\.)*"', text)}
        long = [group.query for group in data.groups if len(group.query) >= 20]  # a word or two are in many files
        found = [query for query in long if query.strip().lower() in strings]
        if found:
            raise SystemExit(f"{path} is evaluated, and has {len(found)} questions of the data: {found[0]!r}")
