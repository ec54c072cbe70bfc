"""numpy: products, by the OpenBLAS that its wheel brings; nothing else of it is meant to be fast."""
import numpy

VERSION = numpy.__version__


def blas():
    try:
        config = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{VERSION} with {config['name']} {config['version']}"
    except TypeError:  # of the distribution
        return f"{VERSION} with the BLAS of the system"


def product(t, sizes):
    out = numpy.empty((t["a"].shape[0], t["b"].shape[1]), numpy.float32)
    return lambda: numpy.matmul(t["a"], t["b"], out=out), lambda: [out]


def begin(threads):
    return blas()


PROGRAMS = {"matmul_f32": product, "weights_f32": product}
