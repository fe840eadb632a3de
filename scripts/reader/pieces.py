"""Writes meaning/pieces.bin, the vocabulary for the Go package, and the ids of the texts in testdata/tokens.json.

pieces.py TOKENIZER PIECES_BIN TOKENS_JSON

pieces.bin has no gaps, and numbers are little-endian:

  "PIECES1\\n"
  6 uint32           pieces, nodes; the ids of <s>, <pad>, </s>, <unk>
  a byte a node      how many children it has
  a byte a node      the last byte of its text (0 for the root)
  uint32 a piece     the node with its text, or 0: no text gives this piece
  float32 a piece    its log probability

The nodes are those of a trie over the bytes of the pieces, breadth first, so that the children of a node are
neighbours and follow those of the node before. A space stands for the mark of a word's start.
"""

import json
import pathlib
import struct
import sys

import numpy as np

from inputs import BEGIN, END, PAD, SPECIAL, UNKNOWN, load_tokenizer, load_vocabulary

WORD_START = "\u2581"


def trie(pieces):
    """Returns the number of children and the label of each node, and the node of each piece."""
    root = {}
    for piece in pieces:
        node = root
        for byte in piece or b"":
            node = node.setdefault(byte, {})
    counts, labels, number = bytearray(), bytearray(), {}
    level = [(b"", 0, root)]
    while level:
        following = []
        for text, label, children in level:
            number[text] = len(counts)
            counts.append(len(children))
            labels.append(label)
            following += [(text + bytes([byte]), byte, children[byte]) for byte in sorted(children)]
        level = following
    return counts, labels, [number[piece] if piece else 0 for piece in pieces]


def main():
    tokenizer, pieces_bin, tokens_json = sys.argv[1:]
    vocabulary = load_vocabulary(tokenizer)
    pieces = [None if piece in SPECIAL else piece.replace(WORD_START, " ").encode() for piece, _ in vocabulary]
    counts, labels, nodes = trie(pieces)
    with open(pieces_bin, "wb") as file:
        file.write(b"PIECES1\n")
        file.write(struct.pack("<6I", len(pieces), len(counts), BEGIN, PAD, END, UNKNOWN))
        file.write(counts)
        file.write(labels)
        file.write(np.array(nodes, "<u4").tobytes())
        file.write(np.array([score for _, score in vocabulary], "<f4").tobytes())
    encode = load_tokenizer(tokenizer).encode
    file = pathlib.Path(tokens_json)
    texts = [case["text"] for case in json.loads(file.read_text())]
    lines = [json.dumps({"text": text, "ids": encode(text).ids}, separators=(",", ":")) for text in texts]
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(len(pieces), "pieces", len(counts), "nodes", len(lines), "texts")


if __name__ == "__main__":
    main()
