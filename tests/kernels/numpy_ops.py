"""What numpy makes of elementwise ops: one row for each of ir/ops/tensor.def, and of pto.def, which all tests read. Functions take float64
arrays, those that integers have too also arrays of Python integers; they state the maths, and what NaN, infinities and zeros become."""
import os
import re

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ONE = np.float64(1)


def sigmoid(x):
    return ONE / (ONE + np.exp(-x))


def is_whole(x):
    return x.dtype == object


# of every number type
NUMBERS = {
    "neg": np.negative,
    "abs": np.abs,
    "relu": lambda x: np.maximum(x, 0) if is_whole(x) else np.where(np.isnan(x), x, np.where(x > 0, x, 0.0)),
}
# of floats: the function, and how many ulp its evaluation in double may be away from numpy's after rounding
FLOATS = {
    "sqrt": (np.sqrt, 0),
    "rsqrt": (lambda x: ONE / np.sqrt(x), 0),
    "reciprocal": (lambda x: ONE / x, 0),
    "exp": (np.exp, 1),
    "log": (np.log, 1),
    "tanh": (np.tanh, 1),
    "sigmoid": (sigmoid, 1),
    "silu": (lambda x: x * sigmoid(x), 1),
}
# instructions of one float tile: pto.t<name>
INSTRUCTIONS = {
    "exp": FLOATS["exp"],
    "log": FLOATS["log"],
    "sqrt": FLOATS["sqrt"],
    "rsqrt": FLOATS["rsqrt"],
    "recip": FLOATS["reciprocal"],
}
# of two operands and every number type; integers wrap
PAIRS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
}


def row_ulp(name):
    """How far a result may be off by the op's row."""
    with open(os.path.join(ROOT, "ir", "ops", "tensor.def"), encoding="utf-8") as table:
        row = re.search(rf'^\w+\(\w+, "(tensor\.)?{name}",(.*?)\)\n(?=\S|\n)', table.read(), re.M | re.S)
    within = re.search(r"WITHIN\((\d+)\)|\.ulp = (\d+)", row[2])
    return int(within[1] or within[2]) if within else 0
