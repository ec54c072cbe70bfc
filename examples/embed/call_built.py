"""Calls a library that pto-build has made of softmax.ptir, on arrays of numpy: call_built.py ./libop.so"""
import ctypes
import sys

import numpy

from pto_library import tensor_of

library = ctypes.CDLL(sys.argv[1])
library.op_open.restype = ctypes.c_void_p
library.op_error.restype = ctypes.c_char_p
context = ctypes.c_void_p(library.op_open(0))

x = numpy.random.default_rng(1).standard_normal((4, 32, 256), dtype=numpy.float32)
y = numpy.empty_like(x)
if library.op_softmax(context, ctypes.byref(tensor_of(x)), ctypes.byref(tensor_of(y))) != 0:
    sys.exit(library.op_error(context).decode())
e = numpy.exp(x.astype(numpy.float64) - x.max(axis=-1, keepdims=True))
error = numpy.abs(y - e / e.sum(axis=-1, keepdims=True)).max()
print(f"softmax: {'right' if error < 1e-6 else 'wrong'}, compared with numpy")

# Every second row of a larger array is not dense.
apart = numpy.zeros((8, 32, 256), numpy.float32)[::2]
result = library.op_softmax(context, ctypes.byref(tensor_of(apart)), ctypes.byref(tensor_of(y)))
print(f"a strided array: {result}, {library.op_error(context).decode()}")
library.op_close(context)
sys.exit(0 if error < 1e-6 else 1)
