"""Calls one function natively with several numbers of threads, and with tensors at several places of a line of memory.

    same_bits.py LIBPTO MODULE INPUT=FILE.npy .. FOLDER ..

Each FOLDER has the files of a size. Ends with 1 where a bit of an output differs from those of one thread and tensors
that begin with a line.
"""

import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/embed"))
from pto_library import Library, numpy_type

LINE = 64
THREADS = (1, 2, 7)
SHIFTS = (0, 1, 7)  # elements that tensors begin after a line


def shifted(array, elements):
    """A copy of the array that begins so many elements after a line."""
    memory = numpy.zeros(array.nbytes + (elements + 1) * max(LINE, array.itemsize), numpy.uint8)
    start = -memory.ctypes.data % LINE + elements * array.itemsize
    place = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    place[...] = array
    return place


def bits_of(function, inputs, shift):
    """The bytes of each output, whose memory is shifted twice as far."""
    placed = [shifted(array, shift) for array in inputs]
    values = function.info.input_count
    for i, array in enumerate(placed[values:]):
        function.set_constant(function.info.constants[i].contents.name.decode(), array)
    return [a.tobytes() for a in function(*placed[:values], new=lambda *what: shifted(numpy.zeros(*what), 2 * shift))]


def main():
    libpto, module, *words = sys.argv[1:]
    files, folders = dict(word.split("=") for word in words if "=" in word), [word for word in words if "=" not in word]
    library, wanted = Library(libpto), {}
    for threads in THREADS:
        function = library.compile(module, settings=[f"backend.with.threads={threads}"])
        infos = [function.info.inputs[i].contents for i in range(function.info.input_count)]
        infos += [function.info.constants[i].contents for i in range(function.info.constant_count)]
        for folder in folders:
            inputs = [numpy.load(f"{folder}/{files[info.name.decode()]}").view(numpy_type(info)) for info in infos]
            for shift in SHIFTS:
                got = bits_of(function, inputs, shift)
                if not all(got):
                    sys.exit(f"{module}, {folder}: an output has no bytes to compare")
                if got != wanted.setdefault(folder, got):
                    sys.exit(f"{module}, {folder}: other bits with {threads} threads and tensors {shift} elements after a line")


main()
