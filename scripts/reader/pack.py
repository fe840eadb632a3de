"""Writes meaning/weights.bin, which the Go package uses in place.

pack.py WEIGHTS_FOLDER OUT

The file is little-endian. Each array begins at a multiple of 64 bytes; meaning/weights.go reads them in this order:

header   "ragflow meaning1", then uint32: layers, width, heads, inner width, words, positions
words    codes of 4 bits [words][width/2], int8 block scales [words][width/32], float32 row scales [words].
         Byte i of a block of 32 has component i in its low half and component i + 16 in its high half.
         A component is (code - 8) * block scale * row scale.
inputs   float32: positions, segments, gain and bias of their norm
layers   for each: query, key and value as one matrix, output, gain and bias; inner, outer, gain and bias
head     float32: pool matrix [input][output], pool bias, head, its bias

A matrix of a layer has int8 codes of at most 63 in panels of 16 outputs [output/16][input/4][16][4], then float32 for
each output: the scale, the scale times the sum of the codes, the bias. 63 * 255 * 2 fits 16 bits with a sign, so that
the instruction for pairs of products cannot saturate. The factor of attention, 1/sqrt(width of a head), is in the query.
"""

import pathlib
import sys

import numpy as np

from reference import HEADS, load

ALIGNMENT, BLOCK, PANEL = 64, 32, 16


def array(out, values, kind="<f4"):
    values = np.asarray(values)
    if kind == "<f4":
        values = values + 0.0  # no negative zero
    out.write(np.ascontiguousarray(values, kind).tobytes())
    out.write(bytes(-out.tell() % ALIGNMENT))


def words(out, rows):
    """The rows come from blocks of 4 bits whose largest component has the code -8. This finds the codes again."""
    count, width = rows.shape
    row_scale = np.abs(rows).max(1, keepdims=True) / 127
    row_scale[row_scale == 0] = 1
    blocks = (rows / row_scale).reshape(count, width // BLOCK, BLOCK)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(2, keepdims=True), 2)
    block_scale = -np.rint(largest)
    codes = np.rint(8 * blocks / np.where(block_scale == 0, 1, block_scale)).clip(-8, 7)
    error = codes * block_scale / 8 - blocks
    print("words: relative error", np.linalg.norm(error * row_scale[..., None]) / np.linalg.norm(rows))
    codes = (codes + 8).astype(np.uint8)
    array(out, codes[..., :16] | codes[..., 16:] << 4, np.uint8)
    array(out, block_scale, np.int8)
    array(out, row_scale / 8)


def matrix(out, weight, bias, factor=1):
    outputs, inputs = weight.shape
    scale = np.abs(weight).max(1) / 63
    codes = np.rint(weight / scale[:, None]).astype(np.int8)
    scale = scale * factor
    array(out, codes.reshape(outputs // PANEL, PANEL, inputs // 4, 4).transpose(0, 2, 1, 3), np.int8)
    array(out, scale)
    array(out, scale * codes.sum(1, dtype=np.int32))
    array(out, bias)


def norm(out, weights, name):
    array(out, weights[name + ".weight"])
    array(out, weights[name + ".bias"])


def layer(out, weights, name):
    parts = [f"{name}.{part}" for part in "qkv"]
    width = weights[parts[0] + ".weight"].shape[1]
    factor = np.ones(3 * width, np.float32)
    factor[:width] = 1 / np.sqrt(width / HEADS)
    bias = np.concatenate([weights[part + ".bias"] for part in parts])
    matrix(out, np.concatenate([weights[part + ".weight"] for part in parts]), bias * factor, factor)
    matrix(out, weights[name + ".o.weight"], weights[name + ".o.bias"])
    norm(out, weights, name + ".n1")
    matrix(out, weights[name + ".a.weight"], weights[name + ".a.bias"])
    matrix(out, weights[name + ".b.weight"], weights[name + ".b.bias"])
    norm(out, weights, name + ".n2")


def main(folder, path):
    weights = load(pathlib.Path(folder))
    layers = sum(name.endswith(".q.weight") for name in weights)
    inner, width = weights["layers.0.a.weight"].shape
    with open(path, "wb") as out:
        out.write(b"ragflow meaning1")
        shape = layers, width, HEADS, inner, len(weights["word.weight"]), len(weights["pos.weight"])
        array(out, np.array(shape), "<u4")
        words(out, weights["word.weight"])
        array(out, weights["pos.weight"])
        array(out, weights["seg.weight"])
        norm(out, weights, "n")
        for number in range(layers):
            layer(out, weights, f"layers.{number}")
        array(out, weights["pool.weight"].T)
        array(out, weights["pool.bias"])
        array(out, weights["head.weight"])
        array(out, weights["head.bias"])


if __name__ == "__main__":
    main(*sys.argv[1:])
