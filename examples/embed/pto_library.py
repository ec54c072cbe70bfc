"""libpto by ctypes: modules as functions of numpy arrays, or of tensors of others, such as torch, by DLPack.

    library = Library("PREFIX/lib/libpto.so")
    softmax = library.compile("softmax.ptir", pipeline="native.yaml")
    y, = softmax(x)

One Library belongs to one thread at a time.
"""
import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

import numpy

CPU = 1
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # DLPack's, by numpy's kinds


class Device(Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class DataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class Tensor(Structure):
    """A DLTensor."""

    _fields_ = [("data", c_void_p), ("device", Device), ("ndim", c_int32), ("dtype", DataType), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class ArgumentInfo(Structure):
    _fields_ = [("struct_size", c_uint32), ("role", c_uint32), ("name", c_char_p), ("type", c_char_p), ("dtype", DataType), ("rank", c_uint32), ("extents", POINTER(c_int64)), ("dims", POINTER(c_char_p))]


class FunctionInfo(Structure):
    _fields_ = [("struct_size", c_uint32), ("input_count", c_uint32), ("constant_count", c_uint32), ("output_count", c_uint32), ("symbol_count", c_uint32), ("reserved", c_uint32)]
    _fields_ += [("name", c_char_p), ("inputs", POINTER(POINTER(ArgumentInfo))), ("constants", POINTER(POINTER(ArgumentInfo))), ("outputs", POINTER(POINTER(ArgumentInfo))), ("symbols", POINTER(c_char_p))]


class PipelineParams(Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("machine", c_char_p), ("settings", POINTER(c_char_p))]


class Error(Exception):
    """What the library reported, as the tools print it."""


def numpy_type(info):
    """bf16 and 8-bit floats, which numpy lacks, are unsigned integers of their bits."""
    kinds = {0: "i", 1: "u", 2: "f", 6: "b"}
    return numpy.dtype(f"{kinds.get(info.dtype.code, 'u')}{info.dtype.bits // 8}")


def tensor_of(array):
    """A DLTensor of the array's memory, which the caller keeps alive."""
    if array.dtype.kind not in CODES:
        raise TypeError(f"tensors have no elements of type {array.dtype}")
    if not array.dtype.isnative:
        raise TypeError(f"elements of type {array.dtype.str} are in the byte order of another machine; a.astype(a.dtype.newbyteorder('=')) has them in that of this one")
    t = Tensor(array.ctypes.data, Device(CPU, 0), array.ndim, DataType(CODES[array.dtype.kind], array.itemsize * 8, 1))
    t.shape = (c_int64 * array.ndim)(*array.shape)
    t.strides = (c_int64 * array.ndim)(*(n // array.itemsize for n in array.strides))
    return t


def lend(value):
    """A DLTensor of the value, and what has to live as long. Tensors of others come without a copy, in types that numpy
    lacks, too; they are dense."""
    if isinstance(value, numpy.ndarray) or not hasattr(value, "__dlpack__"):
        array = numpy.ascontiguousarray(value) if numpy.ndim(value) else numpy.asarray(value)
        return tensor_of(array), array
    capsule = value.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    return Tensor.from_address(pointer(capsule, b"dltensor")), capsule


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.pto_diagnostics_text.restype = c_char_p
        self.c.pto_program_function.restype = POINTER(FunctionInfo)
        self.context = c_void_p()
        self.check(self.c.pto_context_create(None, byref(self.context)))

    def __del__(self):
        if getattr(self, "context", None):
            self.c.pto_context_destroy(self.context)

    def check(self, result):
        if result != 0:
            raise Error(self.c.pto_diagnostics_text(self.context).decode())

    def compile(self, path, pipeline="native.yaml", function=None, settings=()):
        """The function of the module that is called so, or the only public one. Settings are as --set of the tools has them."""
        opened, program, callable_ = c_void_p(), c_void_p(), c_void_p()
        texts = (c_char_p * (len(settings) + 1))(*(s.encode() for s in settings))
        params = PipelineParams(ctypes.sizeof(PipelineParams), 0, None, texts)
        self.check(self.c.pto_pipeline_read(self.context, str(pipeline).encode(), byref(params), byref(opened)))
        self.check(self.c.pto_compile_file(opened, str(path).encode(), byref(program)))
        name = function.encode() if function else None
        self.check(self.c.pto_callable_create(program, name, byref(callable_)))
        infos, i = [], 0
        while info := self.c.pto_program_function(program, c_uint32(i)):
            infos.append(info.contents)
            i += 1
        return Function(self, callable_, next(f for f in infos if name in (None, f.name)))


class Function:
    def __init__(self, library, handle, info):
        self.library, self.handle, self.info = library, handle, info
        self.constants = {}  # their memory stays while they are bound

    def set_constant(self, name, value):
        tensor, owner = lend(value)
        self.library.check(self.library.c.pto_callable_set_constant(self.handle, name.encode(), byref(tensor)))
        self.constants[name] = owner

    def __call__(self, *values, new=numpy.empty):
        """The outputs, in arrays that `new` makes of extents and type."""
        call = self.library.c
        lent = [lend(v) for v in values]
        inputs = (POINTER(Tensor) * len(lent))(*(ctypes.pointer(tensor) for tensor, _ in lent))
        n = self.info.output_count
        ranks, extents = (c_uint32 * n)(), ((c_int64 * 8) * n)()
        self.library.check(call.pto_callable_shapes(self.handle, inputs, len(lent), ranks, extents, n))
        results = [new(extents[i][: ranks[i]], numpy_type(self.info.outputs[i].contents)) for i in range(n)]
        places = [tensor_of(a) for a in results]
        outputs = (POINTER(Tensor) * n)(*map(ctypes.pointer, places))
        self.library.check(call.pto_callable_call(self.handle, inputs, len(lent), outputs, n))
        return results
