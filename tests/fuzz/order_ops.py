"""Forms of ops that sort, and of one_hot: single ones for forms.py. Many elements are equal, NaN, infinities and both zeros among them."""
import numpy as np

import elements

SIZES = [dict(A=3, N=11, B=5), dict(A=1, N=1, B=1), dict(A=0, N=3, B=2), dict(A=2, N=0, B=3), dict(A=2, N=3, B=0), dict(A=1, N=257, B=2), dict(A=31, N=40, B=1)]
X = ("A", "N", "B")
TYPES = ("f32", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
TYPES_WITHOUT_ORDER = ("i64", "u16", "u32", "u64")  # the machine does not compare them


def with_ties(name, dtype, shape, rng):
    """Elements of a handful of values, and some others."""
    if dtype in ("f32", "f16", "bf16"):
        few = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, float.fromhex("0x1.fep127"), -65504.0])
        values = np.where(rng.random(shape) < 0.6, rng.choice(few, shape), rng.standard_normal(shape))
        with np.errstate(over="ignore"):
            return elements.encode(dtype, values).view({"f32": np.float32, "f16": np.float16}.get(dtype, np.uint16))
    lo, hi = elements.limits(dtype)
    few = np.array([lo, hi, lo + 1, 7, 7, 8], elements.int_type(dtype))
    return np.where(rng.random(shape) < 0.6, rng.choice(few, shape), rng.integers(lo, hi, shape, elements.int_type(dtype), endpoint=True))


def order(dtype, bits, axis, descending):
    """Stable, NaN above all numbers."""
    values = elements.decode(dtype, bits)
    if not descending:
        return np.argsort(values, axis=axis, kind="stable")
    return np.flip(values.shape[axis] - 1 - np.argsort(np.flip(values, axis), axis=axis, kind="stable"), axis)


def type_of(dims, dtype):
    return "<" + " x ".join((*dims, dtype)) + ">"


def ordered(Form, op, dtype, axis, descending, kind, k=0):
    x = type_of(X, dtype)
    first = tuple(slice(0, k) if d == axis and op == "topk" else slice(None) for d in range(3))
    made = [str(k) if d == axis and op == "topk" else n for d, n in enumerate(X)]
    down = str(descending).lower()

    def want(bits):
        places = order(dtype, bits, axis, descending)
        results = {"y": np.take_along_axis(bits, places, axis)[first], "i": places.astype(elements.int_type(kind)).view(elements.bits_type(kind))[first]}
        return tuple(results[n] for n in outputs)

    if op == "topk":
        outputs = {"y": type_of(made, dtype), "i": type_of(made, kind)}
        text = f"%y, %i = tensor.topk %x {{axis = {axis}, k = {k}, largest = {down}}} : {outputs['y']}, {outputs['i']}"
    else:
        outputs = {"y": x} if op == "sort" else {"i": type_of(X, kind)}
        name = next(iter(outputs))
        text = f"%{name} = tensor.{op} %x {{axis = {axis - 3}, descending = {down}}} : {outputs[name]}"
    sizes = [s for s in SIZES if s[X[axis]] >= k]
    form = Form(f"{op}{k or ''}-{axis}-{dtype}-{'down' if descending else 'up'}", {"x": x}, outputs, text, want, sizes, prepare=with_ties)
    form.may_be_refused = dtype in TYPES_WITHOUT_ORDER
    return form


def classes(name, dtype, shape, rng):
    """Indices, of which some are out of range; the classes are at most 7."""
    far = [np.iinfo(elements.int_type(dtype)).min, np.iinfo(elements.int_type(dtype)).max] + ([-2**32, 2**32 + 1] if dtype == "i64" else [])
    return np.where(rng.random(shape) < 0.2, rng.choice(np.array(far), shape), rng.integers(-2, 9, shape)).astype(elements.int_type(dtype))


def one_hot(Form, dtype, kind, dims, count):
    def want(bits):
        hit = elements.decode(kind, bits)[..., None] == np.arange(count)
        return elements.encode(dtype, hit * 1.0) if elements.is_float(dtype) else hit.astype(elements.bits_type(dtype))

    y = type_of((*dims, str(count)), dtype)
    form = Form(f"one_hot-{dtype}-{kind}-{count}", {"i": type_of(dims, kind)}, {"y": y}, f"%y = tensor.one_hot %i : {y}", want,
                [{d: s[d] for d in dims} for s in SIZES[:4]], prepare=classes)
    form.may_be_refused = dtype == "u64"
    return form


def order_ops(Form):
    for number, dtype in enumerate(TYPES):
        for axis in range(3):
            down, kind = (number + axis) % 2 == 0, ("i32", "i64")[(number + axis) // 2 % 2]
            yield ordered(Form, "sort", dtype, axis, down, kind)
            yield ordered(Form, "argsort", dtype, axis, not down, kind)
            yield ordered(Form, "topk", dtype, axis, down, kind, (1, 3, 0)[(number + axis) % 3])
            if dtype == "f32":
                yield ordered(Form, "sort", dtype, axis, not down, kind)
                yield ordered(Form, "topk", dtype, axis, not down, kind, 10)
    for number, dtype in enumerate((*TYPES, "bool")):
        yield one_hot(Form, dtype, ("i32", "i64", "i16")[number % 3], (("A", "N"), ("B",), ("N", "B", "A"))[number // 3 % 3], (5, 1, 7, 0)[number % 4])
    # The eight best of many gates, and what they choose.
    yield Form("gates", {"x": "<N x 37 x f32>", "w": "<37 x B x f32>"}, {"y": "<N x 8 x B x f32>", "g": "<N x 8 x f32>"},
               """%s = tensor.softmax %x {axis = 1} : <N x 37 x f32>
                  %g, %i = tensor.topk %s {axis = 1, k = 8} : <N x 8 x f32>, <N x 8 x i32>
                  %y = tensor.take %w, %i {axis = 0} : <N x 8 x B x f32>""",
               gates, [{"N": s["N"], "B": s["B"]} for s in SIZES], 2e-6)


def gates(x, w):
    e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    s = e / e.sum(1, keepdims=True)
    places = np.argsort(-s, axis=1, kind="stable")[:, :8]
    return w[places], np.take_along_axis(s, places, 1)
