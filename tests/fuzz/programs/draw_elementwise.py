"""Ops that go element by element, and what makes numbers from nothing."""
import numpy as np

import numpy_ops
from program import draws
from quantity import FLOATS, LARGEST, Quantity, Reject, around, integers, is_float, made, need_exact, numpy_type, rounded, settled, whole

# where a function of one float is drawn, beside -8 .. 8
DOMAINS = {"sqrt": (0, 64), "rsqrt": (0.125, 64), "reciprocal": (0.125, 64), "log": (0.125, 64), "log2": (0.125, 64), "log10": (0.125, 64),
           "log1p": (-0.5, 64), "exp": (-8, 6), "exp2": (-8, 8), "expm1": (-8, 6), "sinh": (-6, 6), "cosh": (-6, 6), "asin": (-1, 1), "acos": (-1, 1),
           "acosh": (1, 64), "atanh": (-0.875, 0.875), "tan": (-1.25, 1.25), "erfc": (-3, 2)}
JUMPING = ("floor", "ceil", "round", "trunc")
EXACT = {"neg": np.negative, "abs": np.abs, "relu": lambda x: np.maximum(x, 0)}


def gelu(kind):
    if kind == "sigmoid":
        return lambda x: x / (1 + np.exp(-1.702 * x))
    return lambda x: x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))  # 1 + tanh loses its digits


@draws(*numpy_ops.FLOATS)
def one_float(f, op, dtype):
    low, high = DOMAINS.get(op, (-8, 8))
    x = f.pick(dtype, low=low, high=high)
    function = numpy_ops.FLOATS[op][0]

    def want(q):
        if np.any(q.v - q.bound < low) or np.any(q.v + q.bound > high):
            raise Reject
        return Quantity(settled(function, q)) if op in JUMPING else made(dtype, *around(function, q), ulps=numpy_ops.row_ulp(op) + 1.5)

    f.op(f"tensor.{op} %0", [x], [f.of(x)], want)


@draws("gelu")
def draw_gelu(f, op, dtype):
    x, kind = f.pick(dtype, low=-8, high=8), f.r.choice(("tanh", "sigmoid"))
    # Below -4 the tanh form loses its digits: that is the formula's, which the row states.
    f.op(f'tensor.gelu %0 {{approx = "{kind}"}}', [x], [f.of(x)],
         lambda q: made(dtype, gelu(kind)(q.v), around(gelu(kind), q)[1] if q.e is not None else 0.0 + 2.0**-21 * np.abs(q.v), ulps=numpy_ops.row_ulp(op) + 2))


@draws("neg", "abs", "relu", "sign")
def one_number(f, op, dtype):
    x = f.pick(dtype)
    if not is_float(dtype):
        f.op(f"tensor.{op} %0", [x], [f.of(x)], lambda q: whole(dtype, numpy_ops.NUMBERS[op](integers(q))))
    elif op == "sign":
        f.op(f"tensor.{op} %0", [x], [f.of(x)], lambda q: Quantity(settled(np.sign, q)))
    else:
        f.op(f"tensor.{op} %0", [x], [f.of(x)], lambda q: made(dtype, EXACT[op](q.v), q.e))


def quotient(x, y):
    return np.array([abs(int(a)) // abs(int(b)) * (1 if (a >= 0) == (b >= 0) else -1) for a, b in zip(np.ravel(x), np.ravel(y))], dtype=object).reshape(np.shape(x))


INTEGER_PAIRS = {**numpy_ops.PAIRS, "div": quotient, "maximum": np.maximum, "minimum": np.minimum, **numpy_ops.DIVISORS,
                 **{k: v[1] for k, v in numpy_ops.REMAINDERS.items()}}
FLOAT_PAIRS = {**numpy_ops.PAIRS, "div": np.divide, "maximum": np.maximum, "minimum": np.minimum, **{k: v[0] for k, v in numpy_ops.FLOAT_PAIRS.items()}}
DIVIDING = ("div", "mod", "fmod", "floordiv")


def attribute(f, op):
    if op in ("maximum", "minimum") and f.r.random() < 0.4:
        return f' {{nan = "{f.r.choice(("propagate", "ignore", "any"))}"}}'
    return ""


@draws(*dict.fromkeys([*INTEGER_PAIRS, *FLOAT_PAIRS]))
def two_numbers(f, op, dtype):
    low, high = (0.125, 4) if op == "pow" else (None, None)
    a = f.pick(dtype, low=low, high=high)
    b_low, b_high = (1, 2**64) if op in DIVIDING and not is_float(dtype) else (0.5, LARGEST) if op in (*DIVIDING, "atan2") else (-2, 2) if op == "pow" else (None, None)
    b = f.partner(a, dtype, b_low, b_high)
    dims = f.joined(a, b)
    if f.r.random() < 0.2 and b_low is None and op in ("add", "mul", "sub", "maximum", "minimum"):
        a, b = b, a

    def want(p, q):
        if op == "copysign":
            # Ops on the way may make 0 of -0.
            if np.any(np.abs(q.v) <= q.bound):
                raise Reject
            q = Quantity(q.v)
        if op in (*DIVIDING, "atan2") and np.any(q.v - q.bound < b_low) or op == "pow" and (np.any(p.v < 0.1) or np.any(np.abs(q.v) > 3)):
            raise Reject
        x, y = np.broadcast_arrays(p.v, q.v)
        p, q = (Quantity(v, None if one.e is None else np.broadcast_to(one.e, v.shape)) for v, one in ((x, p), (y, q)))
        if not is_float(dtype):
            return whole(dtype, INTEGER_PAIRS[op](integers(p), integers(q)))
        if op in numpy_ops.REMAINDERS:
            # Near a multiple of the divisor a remainder jumps; the quotient's floor must be certain.
            need_exact(p, q)
            return made(dtype, numpy_ops.REMAINDERS[op][0](x, y))
        return made(dtype, *around(FLOAT_PAIRS[op], p, q), ulps=0.5 if op in numpy_ops.PAIRS or op in ("maximum", "minimum", "copysign") else numpy_ops.row_ulp(op) + 1.5)

    f.op(f"tensor.{op} %0, %1{attribute(f, op)}", [a, b], [(dims, dtype)], want)


def apart(p, q):
    """Truths of a relation are certain when no two numbers are within their bounds."""
    near = np.abs(p.v.astype(np.float64) - q.v.astype(np.float64)) <= p.bound + q.bound
    if (p.e is not None or q.e is not None) and np.any(near):
        raise Reject


@draws(*numpy_ops.RELATIONS)
def relation(f, op, dtype):
    a = f.pick(dtype)
    b = f.partner(a, dtype, scalars=dtype != "bool")

    def want(p, q):
        apart(p, q)
        return Quantity(np.asarray(numpy_ops.RELATIONS[op](p.v, q.v)))

    f.op(f"tensor.{op} %0, %1", [a, b], [(f.joined(a, b), "bool")], want)


@draws("where")
def where(f, op, dtype):
    c = f.pick("bool")
    a, b = (f.partner(c, dtype, scalars=dtype != "bool") for _ in range(2))
    dims = f.joined(c, a, b)

    def want(c, p, q):
        e = None if p.e is None and q.e is None else np.where(c.v, p.bound, q.bound)
        v = np.where(c.v, p.v, q.v)
        return Quantity(v.astype(numpy_type(dtype)), None if e is None else np.broadcast_to(e, v.shape))

    f.op("tensor.where %0, %1, %2", [c, a, b], [(dims, dtype)], want)


@draws("clip")
def clip(f, op, dtype):
    x = f.pick(dtype)
    low, high = f.partner(x, dtype), f.partner(x, dtype)

    def want(q, low, high):
        v = np.minimum(np.maximum(q.v, low.v), high.v)
        e = None if q.e is None and low.e is None and high.e is None else np.broadcast_to(np.maximum(np.maximum(q.bound, low.bound), high.bound), v.shape)
        return Quantity(v, e)

    f.op("tensor.clip %0, %1, %2", [x, low, high], [(f.joined(x, low, high), dtype)], want)


@draws(*numpy_ops.CLASSES)
def float_class(f, op, dtype):
    x = f.pick(dtype)
    f.op(f"tensor.{op} %0", [x], [(f.of(x)[0], "bool")], lambda q: Quantity(numpy_ops.CLASSES[op](q.v)))


def truth(q):
    if q.e is not None and np.any(np.abs(q.v) <= q.e):
        raise Reject
    return q.v != 0


@draws(*numpy_ops.LOGIC)
def logic(f, op, dtype):
    a = f.pick(dtype)
    if op == "logical_not":
        f.op(f"tensor.{op} %0", [a], [(f.of(a)[0], "bool")], lambda q: Quantity(~truth(q)))
        return
    b = f.partner(a, dtype, scalars=False)
    f.op(f"tensor.{op} %0, %1", [a, b], [(f.joined(a, b), "bool")], lambda p, q: Quantity(numpy_ops.LOGIC[op](truth(p), truth(q))))


@draws("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")
def bits(f, op, dtype):
    a = f.pick(dtype)
    if op == "bitwise_not":
        f.op(f"tensor.{op} %0", [a], [f.of(a)], lambda q: Quantity(np.invert(q.v)))
        return
    b = f.partner(a, dtype, scalars=dtype != "bool")
    f.op(f"tensor.{op} %0, %1", [a, b], [(f.joined(a, b), dtype)], lambda p, q: Quantity(np.asarray(numpy_ops.BITS[op.split("_")[1]](p.v, q.v))))


@draws(*numpy_ops.SHIFTS)
def shift(f, op, dtype):
    a = f.pick(dtype)
    b = f.partner(a, dtype, -1, 70)

    def want(p, q):
        x, y = np.broadcast_arrays(p.v, q.v)
        return whole(dtype, numpy_ops.SHIFTS[op](x.astype(object), y.astype(object), 8 * x.dtype.itemsize))

    f.op(f"tensor.{op} %0, %1", [a, b], [(f.joined(a, b), dtype)], want)


# ---- from nothing ----

def written(dtype, number):
    if dtype == "bool":
        return "true" if number else "false"
    return repr(float(number)) if is_float(dtype) else str(int(number))


@draws("constant")
def constant(f, op, dtype):
    if dtype == "index":
        raise Reject
    dims, r = f.dims(), f.r
    listed = r.random() < 0.4
    if listed:
        dims = tuple(r.choice("1235") for _ in range(r.randrange(1, 3)))
        if np.prod(f.shape(dims)) > 16:
            raise Reject
        numbers = f.numbers(dtype, dims, -9, 9)
        text = "dense [" + ", ".join(written(dtype, v) for v in np.ravel(numbers)) + f"] : {f.p.type(dims, dtype)}"
        f.op(f"tensor.constant {{value = {text}}}", [], [(dims, dtype)], lambda: Quantity(numbers))
        return
    number = f.numbers(dtype, (), -9, 9)
    f.op(f"tensor.constant {{value = {written(dtype, number)}}}", [], [(dims, dtype)], lambda: Quantity(np.full(f.shape(dims), number)))


@draws("full")
def full(f, op, dtype):
    if f.caller is not None or f.depth:
        raise Reject
    s, dims = f.param(dtype, None), f.dims()
    f.op("tensor.full %0", [s], [(dims, dtype)], lambda q: Quantity(np.full(f.shape(dims), q.v)))


@draws("iota")
def iota(f, op, dtype):
    dims = f.dims(1)
    axis = f.r.randrange(len(dims))
    if f.shape(dims)[axis] > 100:
        raise Reject
    v = np.broadcast_to(np.arange(f.shape(dims)[axis]).reshape([-1 if i == axis else 1 for i in range(len(dims))]), f.shape(dims)).astype(numpy_type(dtype))
    f.op(f"tensor.iota {{axis = {f.r.choice((axis, axis - len(dims)))}}}", [], [(dims, dtype)], lambda: Quantity(v))


@draws("index_cast")
def index_cast(f, op, dtype):
    dims, (text, number) = f.dims(), f.r.choice([("3", 3), *[(f"2 * {f.p.token(n)}", 2 * f.p.sizes[n]) for n in "AB"]])
    if number > 100:
        raise Reject
    f.op(f"tensor.index_cast from({text})", [], [(dims, dtype)], lambda: Quantity(np.full(f.shape(dims), number).astype(numpy_type(dtype))))


@draws("random_uniform", "random_normal")
def random(f, op, dtype):
    """That the numbers are in their range: their bits have exact tables elsewhere."""
    dims, key = f.dims(over=300), f.r.randrange(2**31)
    drawn = f.p.fresh("k")
    f.types[drawn] = (dims, dtype)
    f.op(f"tensor.{op} {{key = {key}}}", [], [(dims, dtype)], lambda: Quantity(np.full(f.shape(dims), 0.5), np.full(f.shape(dims), 0.5 if op == "random_uniform" else 10.0)))
