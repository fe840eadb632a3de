"""Prints how long a passage takes with each kernel of package meaning, beside onnxruntime with int8 weights.

The model for onnxruntime has the shape of S6 and random weights, its fused operators, and one thread. Times are those
of the processor, not of the clock, so that other programs disturb them less. Each round measures all in turn; a ratio
is the median over rounds.

    python3 speed.py [ROUNDS]      in the root of the repository, with Go, onnx and onnxruntime
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import quantize_dynamic

WIDTH, LAYERS, HEADS, INNER, WORDS = 384, 6, 12, 1536, 1000
LENGTHS = {32: 200, 64: 100, 160: 40, 512: 10}  # tokens, and passages a round
KERNELS = {"AVX512-VNNI": 1, "AVX2": 2, "portable": 40}  # and how much fewer passages


def model(path):
    random = np.random.default_rng(1)
    nodes, weights = [], []

    def weight(name, *shape):
        weights.append(numpy_helper.from_array((random.standard_normal(shape) * 0.05).astype(np.float32), name))
        return name

    def node(operator, inputs, output, **attributes):
        domain = "" if operator in ("Gather", "MatMul", "ReduceMean") else "com.microsoft"
        nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def add(part, x, residual):  # with the bias of the product before it, and normalised
        inputs = [x, residual, weight(part + "gain", WIDTH), weight(part + "shift", WIDTH), weight(part + "bias", WIDTH)]
        return node("SkipLayerNormalization", inputs, part + "sum")

    x = node("Gather", [weight("words", WORDS, WIDTH), "ids"], "word")
    for layer in range(LAYERS):
        part = f"{layer}."
        heads = node("Attention", [x, weight(part + "qkv", WIDTH, 3 * WIDTH), weight(part + "qkvbias", 3 * WIDTH)], part + "heads", num_heads=HEADS)
        x = add(part + "attention.", node("MatMul", [heads, weight(part + "output", WIDTH, WIDTH)], part + "attended"), x)
        inner = node("MatMul", [x, weight(part + "inner", WIDTH, INNER)], part + "widened")
        inner = node("BiasGelu", [inner, weight(part + "innerbias", INNER)], part + "gelu")
        x = add(part + "outer.", node("MatMul", [inner, weight(part + "outer", INNER, WIDTH)], part + "narrowed"), x)
    node("ReduceMean", [x], "mean", axes=[1], keepdims=0)
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "tokens"])
    mean = helper.make_tensor_value_info("mean", TensorProto.FLOAT, [1, WIDTH])
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "S6", [ids], [mean], weights), opset_imports=versions, ir_version=9), path)
    quantize_dynamic(path, path + "8", op_types_to_quantize=["MatMul", "Attention"], extra_options={"DefaultTensorType": TensorProto.FLOAT})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path + "8", options, providers=["CPUExecutionProvider"])


def theirs(session, tokens, passages):
    ids = np.arange(tokens).reshape(1, tokens) * 97 % WORDS
    session.run(None, {"ids": ids})
    begin = time.process_time()
    for _ in range(passages):
        session.run(None, {"ids": ids})
    return (time.process_time() - begin) / passages


def ours(test, kernel, tokens, passages):
    def run(n):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        name = f"Passage/{kernel}/{tokens}$"
        out = subprocess.run([test, "-test.run", "-", "-test.bench", name, "-test.benchtime", f"{n}x"], check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) if "ns/op" in out.stdout else None

    long = run(passages + 1)
    return None if long is None else (long - run(1)) / passages


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        test = os.path.join(folder, "test")
        subprocess.run(["go", "test", "-c", "-o", test, "./meaning"], check=True)
        session = model(os.path.join(folder, "model.onnx"))
        print("| tokens | onnxruntime " + onnxruntime.__version__ + " | " + " | ".join(KERNELS) + " |\n| ---: |" + " ---: |" * (len(KERNELS) + 1))
        for tokens, passages in LENGTHS.items():
            peer, mine = [], {kernel: [] for kernel in KERNELS}
            for _ in range(rounds):
                peer.append(theirs(session, tokens, passages))
                for kernel, fewer in KERNELS.items():
                    mine[kernel].append(ours(test, kernel, tokens, max(1, passages // fewer)))
            cells = [f"{1000 * statistics.median(peer):.1f}"]
            for times in mine.values():
                ratio = None if None in times else statistics.median(t / p for t, p in zip(times, peer))
                cells.append("" if ratio is None else f"{1000 * statistics.median(times):.1f} ({ratio:.2f} ×)")
            print(f"| {tokens} | " + " | ".join(cells) + " |", flush=True)


main()
