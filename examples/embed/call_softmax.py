"""Compiles a module for this CPU and calls its function on arrays of numpy: call_softmax.py PREFIX"""
import sys

import numpy

from pto_library import Error, Library


def softmax(x):
    e = numpy.exp(x.astype(numpy.float64) - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


prefix = sys.argv[1]
library = Library(f"{prefix}/lib/libpto.so")
function = library.compile(f"{prefix}/share/pto/examples/softmax/softmax.ptir")
for batch in (1, 3):
    x = numpy.random.default_rng(batch).standard_normal((batch, 32, 256), dtype=numpy.float32)
    (y,) = function(x)
    error = numpy.abs(y - softmax(x)).max()
    print(f"batch {batch}: {'right' if error < 1e-6 else 'wrong'}, compared with numpy")
    if not error < 1e-6:
        sys.exit(1)

try:
    function(numpy.zeros((1, 31, 256), numpy.float32))
except Error as e:
    print(f"a wrong shape: {e}", end="")

try:
    import torch
except ImportError:
    print("torch is not installed: its tensors are not tried")
else:
    t = torch.randn(2, 32, 256)
    (y,) = function(t)
    error = numpy.abs(y - torch.softmax(t, -1).numpy()).max()
    print(f"torch: {'right' if error < 1e-6 else 'wrong'}")
    if not error < 1e-6:
        sys.exit(1)
    # A type that numpy lacks: the result is an array of its bits.
    norm = library.compile(f"{prefix}/share/pto/examples/rms_norm/bf16.ptir")
    x, gamma = torch.randn(5, 128).bfloat16(), torch.randn(128).bfloat16()
    (y,) = norm(x, gamma)
    wanted = (x.float() / (x.float() ** 2).mean(-1, keepdim=True).sqrt() * gamma.float()).bfloat16()
    is_right = torch.allclose(torch.from_numpy(y).view(torch.bfloat16).float(), wanted.float(), rtol=2e-2, atol=1e-3)
    print(f"torch in bf16: {'right' if is_right else 'wrong'}")
    try:
        norm(torch.randn(128, 5).bfloat16().T, gamma)
    except Error as e:
        print(f"a tensor that is not dense: {e}", end="")
    if not is_right:
        sys.exit(1)
