"""How texts become the input of the model. Training, the reference values and the Go package build the same sequences.

search  <s> query: TEXT </s>  or  <s> passage: TITLE : TEXT </s>
judge   <s> QUERY </s> </s> TITLE : PASSAGE </s>, where all after the first </s> has segment 1

The tokenizer knows no special tokens: "<s>" in a document is text.
"""

import json
import lzma

import numpy as np
from tokenizers import Tokenizer

BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
MAX_TOKENS = 512  # as many positions as the model has
MAX_QUERY, MAX_TITLE = 64, 24


SPECIAL = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}


def load_json(path):
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def load_vocabulary(path):
    """Returns the pieces with their log probabilities, in the order of their ids."""
    return load_json(path)["model"]["vocab"]


def load_tokenizer(path):
    """Returns a tokenizer without special tokens: the library would find "<s>" in a text, as it is a piece."""
    tokenizer = load_json(path)
    for entry in tokenizer["model"]["vocab"]:
        if entry[0] in SPECIAL:
            entry[0] = " " + entry[0]  # no word has a space, so this piece is never found
    return Tokenizer.from_str(json.dumps(tokenizer))


class Sequences:
    """Builds sequences of token ids. Texts are given as arrays of ids without special tokens."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.query_prefix = self.ids("query:")
        self.passage_prefix = self.ids("passage:")
        self.colon = self.ids("x:")[-1:]

    def ids(self, text):
        return self.batch([text])[0]

    def batch(self, texts, limit=None):
        out = []
        for start in range(0, len(texts), 20_000):
            encodings = self.tokenizer.encode_batch(texts[start : start + 20_000], add_special_tokens=False)
            out += [np.array(encoding.ids[:limit], dtype=np.int32) for encoding in encodings]
        return out

    def search_query(self, query, limit=MAX_TOKENS):
        return join([BEGIN], join(self.query_prefix, query)[: limit - 2], [END])

    def search_passage(self, title, passage, limit=MAX_TOKENS):
        return join([BEGIN], join(self.passage_prefix, self.titled(title, passage))[: limit - 2], [END])

    def judge(self, query, title, passage, limit=MAX_TOKENS):
        """Returns ids and segments."""
        first = join([BEGIN], query, [END])
        second = join(join([END], self.titled(title, passage))[: limit - len(first) - 1], [END])
        return join(first, second), np.repeat([0, 1], [len(first), len(second)])

    def titled(self, title, passage):
        return join(title, self.colon, passage) if len(title) else passage


def join(*parts):
    return np.concatenate(parts).astype(np.int32)
