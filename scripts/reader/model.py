"""The model in PyTorch: the encoder of multilingual-e5-small (a BERT) with a head for each of its two uses.

Its names are those of the weights files. Positions hold the first segment too, so that a search needs none.
"""

import re

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, INNER, POSITIONS, EPSILON = 384, 12, 1536, 512, 1e-12


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.n1, self.n2 = nn.LayerNorm(WIDTH, EPSILON), nn.LayerNorm(WIDTH, EPSILON)
        self.a, self.b = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x, mask, dropout):
        rows, tokens, _ = x.shape
        query, key, value = (
            part(x).view(rows, tokens, HEADS, WIDTH // HEADS).transpose(1, 2) for part in (self.q, self.k, self.v)
        )
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = self.o(mixed.transpose(1, 2).reshape(rows, tokens, WIDTH))
        x = self.n1(x + F.dropout(mixed, dropout, dropout > 0))
        return self.n2(x + F.dropout(self.b(F.gelu(self.a(x))), dropout, dropout > 0))


class Encoder(nn.Module):
    def __init__(self, layers, words):
        super().__init__()
        self.word, self.pos, self.seg = (nn.Embedding(n, WIDTH) for n in (words, POSITIONS, 2))
        self.n = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.pool, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.dropout = 0.0  # while training
        nn.init.zeros_(self.seg.weight)
        nn.init.normal_(self.pool.weight, std=0.05)
        nn.init.normal_(self.head.weight, std=0.02)
        for linear in (self.pool, self.head):
            nn.init.zeros_(linear.bias)

    def states(self, ids, mask, segments=None):
        """Yields the state of all tokens after each layer."""
        tokens = ids.shape[1]
        dropout = self.dropout if self.training else 0.0
        x = self.word(ids) + self.pos.weight[:tokens]
        if segments is not None:
            x = x + self.seg(segments)
        x = F.dropout(self.n(x), dropout, dropout > 0)
        mask = mask[:, None, None, :].bool().expand(-1, 1, tokens, -1)
        for layer in self.layers:
            x = layer(x, mask, dropout)
            yield x

    def last(self, ids, mask, segments=None):
        for x in self.states(ids, mask, segments):
            pass
        return x

    def search(self, ids, mask):
        """Returns a vector of length 1 for each text: the mean of its tokens."""
        return mean_of_tokens(self.last(ids, mask), mask)

    def judge(self, ids, segments, mask):
        """Returns the logit that the passage of a pair answers its query, from the first token."""
        first = self.last(ids, mask, segments)[:, 0]
        return self.head(torch.tanh(self.pool(first)))[:, 0]


def mean_of_tokens(x, mask):
    mask = mask[..., None].float()
    return F.normalize((x.float() * mask).sum(1) / mask.sum(1), dim=-1)


def from_4_bits(blocks):
    """Blocks of 32 weights have a float16 scale and 32 codes of four bits."""
    rows = blocks.reshape(-1, 18)
    scale, codes = rows[:, :2].copy().view("<f2").astype(np.float32), rows[:, 2:]
    codes = np.concatenate([codes & 15, codes >> 4], 1).astype(np.float32) - 8
    return (codes * scale).reshape(blocks.shape[0], -1)


def read_weights(*paths):
    """Returns the arrays of .npz files as float32 tensors. A name that ends in #q has four bits a weight."""
    weights = {}
    for path in paths:
        with np.load(path) as file:
            for name in file.files:
                values = from_4_bits(file[name]) if name.endswith("#q") else file[name].astype(np.float32)
                weights[name.removesuffix("#q")] = torch.from_numpy(values)
    return weights


def copy_weights(model, weights, layers=None):
    """Fills a model with the weights there are. Layer i takes those of layers[i], or of i."""
    for name, target in model.state_dict().items():
        layer = re.fullmatch(r"layers\.(\d+)\.(.*)", name)
        source = f"layers.{layers[int(layer[1])]}.{layer[2]}" if layer and layers else name
        if source in weights:
            target.copy_(weights[source])


def write_weights(model, folder):
    """Writes two files in float16, without the word embeddings, which stay those of the teacher."""
    state = {name: value.detach().half().cpu().numpy() for name, value in model.state_dict().items()}
    half = len(model.layers) // 2
    parts = {}, {}
    for name, value in state.items():
        layer = re.match(r"layers\.(\d+)", name)
        if not name.startswith("word"):
            parts[bool(layer) and int(layer[1]) >= half][name] = value
    for number, part in enumerate(parts):
        np.savez(folder / f"s6-part{number}.npz", **part)
