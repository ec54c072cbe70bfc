"""Sets of values of functions element by element against numpy: float64 lies inside, also of operands that may err."""

import math
import sys

import numpy as np

sys.dont_write_bytecode = True
from bound_of_composites import check, numbers, wide  # noqa: E402

OF_ONE = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "exp2": np.exp2, "expm1": np.expm1, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "cbrt": np.cbrt, "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc),
    "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "sign": np.sign,
}  # fmt: skip
OF_TWO = {
    "swiglu": lambda a, b: a / (1 + np.exp(-a)) * b,
    "hypot": np.hypot,
    "prelu": lambda a, b: np.where(a > 0, a, a * b),
    "copysign": np.copysign,
    "atan2": np.arctan2,
    "floordiv": np.floor_divide,
}


def main():
    shape = (8, 50)
    for op, f in OF_ONE.items():
        check(op, op, "", [numbers(shape, np.float32, 1.5)], shape, "f32", lambda a, _, f=f: f(wide(a[0])), None)
    for op, f in OF_TWO.items():
        x, y = numbers(shape, np.float32, 3), numbers(shape, np.float32, 3)
        check(op, op, "", [x, y], shape, "f32", lambda a, _, f=f: f(wide(a[0]), wide(a[1])), None)
    low, x = numbers(shape, np.float32), numbers(shape, np.float32, 3)
    check("clip", "clip", "", [x, low, low + np.float32(1)], shape, "f32", lambda a, _: np.clip(wide(a[0]), wide(a[1]), wide(a[2])), None)
    gates = -40 * np.abs(numbers(shape, np.float32))
    check("swiglu", "swiglu", "", [gates, x], shape, "f32", lambda a, _: OF_TWO["swiglu"](wide(a[0]), wide(a[1])), None)


main()
