"""oneDNN 2, as Debian has it, through a small library that is compiled here; weights are packed once."""
import ctypes
import os
import subprocess
import tempfile

import numpy as np

TYPES = {"float32": 0, "uint16": 1, "int8": 2, "int32": 3}
library = None


def begin(threads):
    global library
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "onednn_calls.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onednn_calls.c")
        made = subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", path, "-ldnnl"], capture_output=True, text=True)
        if made.returncode != 0:
            raise ImportError("No module named onednn: " + made.stderr[:200])
        library = ctypes.CDLL(path)
    for name in ("softmax", "layer_norm", "scale_rows", "matmul", "then"):
        getattr(library, "onednn_" + name).restype = ctypes.c_void_p
    library.onednn_begin.restype = ctypes.c_char_p
    return library.onednn_begin().decode()


def at(array):
    return ctypes.c_void_p(array.ctypes.data)


def made(handle, *results, keep=()):
    if not handle:
        raise NotImplementedError("oneDNN has no implementation")
    held = (results, keep)
    return lambda: library.onednn_run(ctypes.c_void_p(handle)), lambda: list(held[0])


def chain(*calls):
    last = calls[-1]
    for call in reversed(calls[:-1]):
        last = library.onednn_then(ctypes.c_void_p(call), ctypes.c_void_p(last)) if call and last else None
    return last


def product(a, b, c, sizes, batch=0, turned=False, packs=False, bias=None, scales=None, gelu=False):
    m, n, k = sizes
    return library.onednn_matmul((ctypes.c_long * 4)(batch, m, n, k), (ctypes.c_int * 2)(TYPES[a.dtype.name], TYPES[c.dtype.name]),
                                 int(turned), int(packs), at(a), at(b), at(bias) if bias is not None else None, at(c),
                                 at(scales) if scales is not None else None,
                                 ctypes.c_long(scales.size if scales is not None else 0), int(gelu))


def softmax(t, s):
    y = np.empty_like(t["x"])
    return made(library.onednn_softmax(at(t["x"]), at(y), ctypes.c_long(s["R"]), ctypes.c_long(s["C"])), y, keep=t)


def layer_norm(t, s):
    y = np.empty_like(t["x"])
    sizes = ctypes.c_long(s["R"]), ctypes.c_long(s["C"])
    return made(library.onednn_layer_norm(at(t["x"]), at(t["gamma"]), at(t["beta"]), at(y), *sizes), y, keep=t)


def matmul(packs, out=None):
    def build(t, s):
        c = np.empty((s["M"], s["N"]), out or t["a"].dtype)
        return made(product(t["a"], t["b"], c, (s["M"], s["N"], s["K"]), packs=packs), c, keep=t)

    return build


def scaled(t, s):
    """Scales of columns in the product, scales of rows after it: with both in the product it takes minutes."""
    c = np.empty((s["M"], s["N"]), np.float32)
    calls = product(t["a"], t["b"], c, (s["M"], s["N"], s["K"]), packs=True, scales=t["sb"])
    return made(chain(calls, library.onednn_scale_rows(at(c), at(t["sa"]), ctypes.c_long(s["M"]), ctypes.c_long(s["N"]))), c, keep=t)


def mlp(t, s):
    m, n, k = s["M"], s["N"], s["K"]
    h, y = np.empty((m, n), t["x"].dtype), np.empty((m, k), t["x"].dtype)
    calls = chain(product(t["x"], t["w"], h, (m, n, k), packs=True, bias=t["b"], gelu=True),
                  product(h, t["v"], y, (m, k, n), packs=True, bias=t["d"]))
    return made(calls, y, keep=(t, h))


def attention(t, s):
    h, places, keys, d = s["H"], s["S"], s["T"], s["D"]
    score, p, y = (np.empty((h, places, n), np.float32) for n in (keys, keys, d))
    scale = np.array([d**-0.5], np.float32)
    calls = chain(product(t["q"], t["k"], score, (places, keys, d), batch=h, turned=True, scales=scale),
                  library.onednn_softmax(at(score), at(p), ctypes.c_long(h * places), ctypes.c_long(keys)),
                  product(p, t["v"], y, (places, d, keys), batch=h))
    return made(calls, y, keep=(t, score, p, scale))


PROGRAMS = {
    "softmax": softmax, "layer_norm": layer_norm, "matmul_f32": matmul(False), "matmul_bf16": matmul(False),
    "matmul_i8": matmul(False, np.int32), "weights_f32": matmul(True), "weights_bf16": matmul(True), "weights_i8": scaled,
    "mlp_f32": mlp, "mlp_bf16": mlp, "attention_f32": attention,
}
