"""What numpy makes of elementwise ops: one row for each of ir/ops/tensor.def, and of pto.def, which all tests read. Functions take float64
arrays, those that integers have too also arrays of Python integers; they state the maths, and what NaN, infinities and zeros become."""
import math
import os
import re

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ONE = np.float64(1)


def sigmoid(x):
    return ONE / (ONE + np.exp(-x))


def gelu_tanh(x):
    x = x.astype(np.longdouble)
    u = np.sqrt(2 / np.longdouble(np.pi)) * (x + np.longdouble(0.044715) * x**3)
    return np.asarray(x / (1 + np.exp(-2 * u)), dtype=np.float64)


def gelu_sigmoid(x):
    x = x.astype(np.longdouble)
    return np.asarray(x / (1 + np.exp(-np.longdouble(1.702) * x)), dtype=np.float64)


def is_whole(x):
    return x.dtype == object


def each(function):
    """Of the math module, element by element."""
    return lambda x: np.array([function(v) if v == v else v for v in np.ravel(x)], dtype=np.float64).reshape(np.shape(x))


# of every number type
NUMBERS = {
    "sign": np.sign,
    "neg": np.negative,
    "abs": np.abs,
    "relu": lambda x: np.maximum(x, 0) if is_whole(x) else np.where(np.isnan(x), x, np.where(x > 0, x, 0.0)),
}
# of floats: the function, and how many ulp its evaluation in double may be away from numpy's after rounding
FLOATS = {
    "floor": (np.floor, 0),
    "ceil": (np.ceil, 0),
    "round": (np.rint, 0),
    "trunc": (np.trunc, 0),
    "sqrt": (np.sqrt, 0),
    "rsqrt": (lambda x: ONE / np.sqrt(x), 0),
    "reciprocal": (lambda x: ONE / x, 0),
    "exp": (np.exp, 1),
    "log": (np.log, 1),
    "exp2": (np.exp2, 1),
    "expm1": (np.expm1, 1),
    "log2": (np.log2, 1),
    "log10": (np.log10, 1),
    "log1p": (np.log1p, 1),
    "sin": (np.sin, 1),
    "cos": (np.cos, 1),
    "tan": (np.tan, 1),
    "asin": (np.arcsin, 1),
    "acos": (np.arccos, 1),
    "atan": (np.arctan, 1),
    "sinh": (np.sinh, 1),
    "cosh": (np.cosh, 1),
    "asinh": (np.arcsinh, 1),
    "acosh": (np.arccosh, 1),
    "atanh": (np.arctanh, 1),
    "cbrt": (np.cbrt, 1),
    "erf": (each(math.erf), 1),
    "erfc": (each(math.erfc), 1),
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
def whole(function):
    """Of Python integers, element by element; by 0: -1."""
    return lambda x, y: np.array([function(int(a), int(b)) if b else -1 for a, b in zip(np.ravel(x), np.ravel(y))], dtype=object).reshape(np.shape(x))


# of two operands: of floats (times 1: signalling NaN are quiet ones), of integers (None: it has none), and how many ulp
# evaluation in double may be away
REMAINDERS = {
    "mod": (np.mod, whole(lambda a, b: a % b), 0),
    "fmod": (np.fmod, whole(lambda a, b: int(math.copysign(1, a)) * (abs(a) % abs(b))), 0),
    "floordiv": (np.floor_divide, whole(lambda a, b: a // b), 0),
}
FLOAT_PAIRS = {
    "pow": (lambda x, y: np.power(x * ONE, y * ONE), 1),
    "swiglu": (lambda x, y: x / (1 + np.exp(-x)) * y, 1),
    "prelu": (lambda x, y: np.where(x > 0, x, x * y), 0),
    "copysign": (np.copysign, 0),
    "hypot": (lambda x, y: np.hypot(x * ONE, y * ONE), 1),
    "atan2": (np.arctan2, 1),
}
# of integers alone
DIVISORS = {"gcd": lambda x, y: np.array([math.gcd(int(a), int(b)) for a, b in zip(np.ravel(x), np.ravel(y))], dtype=object).reshape(np.shape(x))}
# instructions of two float tiles: pto.t<name>, of integers too where that is given
TILE_PAIRS = {"rem": REMAINDERS["mod"], "fmod": REMAINDERS["fmod"], "pow": (lambda x, y: np.power(x * ONE, y * ONE), None, 1)}
# what machines call of f32, by the words of functions.def: pto.tfunction and pto.tfunction2
CALLED = {name: FLOATS[name] for name in ("sigmoid", "silu", "tanh", "exp2", "expm1", "sinh", "cosh", "asinh", "acosh",
                                          "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "erf", "erfc")}
CALLED["gelu_tanh"] = (gelu_tanh, 1)
CALLED["gelu_sigmoid"] = (gelu_sigmoid, 1)
CALLED_PAIRS = {name: FLOAT_PAIRS[name] for name in ("swiglu", "hypot", "atan2")}
# how far functions of angles go when they are lowered
TURNS = {"sin": 1048576.0, "cos": 1048576.0, "tan": 1048576.0}


# truth values of two numbers, in the order of relations.def
RELATIONS = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}
def shifted(left):
    """Of values of an integer type: by its width or more, and by less than 0, nothing is left but the sign."""
    def of(x, y, bits):
        count = [min(int(b) % 2**bits, bits) for b in np.ravel(y)]
        return np.array([int(a) << n if left else int(a) >> n for a, n in zip(np.ravel(x), count)], dtype=object).reshape(np.shape(x))
    return of


SHIFTS = {"shl": shifted(True), "shr": shifted(False)}
# bit by bit: instructions pto.t<name>
BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": None}
# truth values of truth values, or of numbers that are not 0
LOGIC = {"logical_not": np.logical_not, "logical_and": np.logical_and, "logical_or": np.logical_or}
# truth values of one float
CLASSES = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


def row_ulp(name):
    """How far a result may be off by the op's row."""
    with open(os.path.join(ROOT, "ir", "ops", "tensor.def"), encoding="utf-8") as table:
        row = re.search(rf'^\w+\(\w+, "(tensor\.)?{name}",(.*?)\)\n(?=\S|\n)', table.read(), re.M | re.S)
    within = re.search(r"WITHIN(?:_TURNS)?\((\d+)\)|\.ulp = (\d+)", row[2])
    return int(within[1] or within[2]) if within else 0
