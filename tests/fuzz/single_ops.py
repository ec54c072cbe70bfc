"""Single tensor ops on the values where numbers go wrong: NaN, infinities, zeros of both signs, denormals, the largest and lowest
values, empty extents, extents of 1 and prime ones. Each is a form of forms.py whose results are bits: what numpy computes in float64, or
Python in integers, is rounded once; functions may be off by the ulp that their row in ir/ops/tensor.def states."""

import numpy as np

import elements
import numpy_ops

FLOATS, INTEGERS = ("f32", "f16", "bf16"), ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
SHAPES = [dict(A=7, B=53), dict(A=1, B=1), dict(A=0, B=3), dict(A=3, B=0), dict(A=2, B=1031)]


def edges(dtype):
    """Bits of the values at which something changes."""
    if not elements.is_float(dtype):
        lo, hi = elements.limits(dtype)
        return elements.int_bits(dtype, [lo, hi, 0, 1, hi - 1, lo + 1, hi // 2, 2, 3, 10, lo // 2, -1 if lo else hi - 2])
    bits, top = 8 * elements.size(dtype), 1 << (8 * elements.size(dtype) - 1)
    mantissa = {"f32": 23, "f16": 10, "bf16": 7}[dtype]
    inf = top - (1 << mantissa)
    one = int(elements.encode(dtype, [1.0])[0])
    positive = [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, (1 << mantissa) + 1, one, one - 1, one + 1, inf - 1, inf - 2, inf, inf + (1 << (mantissa - 1))]
    positive += [int(b) for b in elements.encode(dtype, [0.5, 2.0, 3.5, 10.0, 17.3, 88.0, 0.1, 1e-3])]
    all_bits = positive + [b | top for b in positive]
    return np.array(all_bits, np.uint64).astype({16: np.uint16, 32: np.uint32}[bits])


def edge_array(dtype, shape, rng, others=None):
    """Edges at random places, between ordinary values."""
    count = int(np.prod(shape))
    if elements.is_float(dtype):
        ordinary = elements.encode(dtype, rng.standard_normal(count) * np.exp2(rng.integers(-6, 6, count))) if count else np.zeros(0, elements.bits_type(dtype))
    else:
        ordinary = rng.integers(0, 2**63, count, dtype=np.int64).astype(elements.bits_type(dtype))
    chosen = rng.choice(edges(dtype) if others is None else others, count)
    return np.where(rng.random(count) < 0.6, chosen, ordinary).astype(elements.bits_type(dtype)).reshape(shape)


def given(dtype, bits):
    if dtype == "bool":
        return bits.view(np.bool_)
    return bits.view({"f32": np.float32, "f16": np.float16, "bf16": np.uint16}.get(dtype) or elements.int_type(dtype))


def exact(fn):
    """Of values to bits: the float64 result rounded once, or wrapped."""
    def of(dtype, *bits):
        if elements.is_float(dtype):
            return elements.encode(dtype, np.ravel(fn(*[elements.decode(dtype, b) for b in bits])))
        values = [elements.decode(dtype, b).astype(object) for b in bits]
        return elements.int_bits(dtype, np.array(fn(*values), dtype=object))
    return of


def step(dtype, want):
    """One ulp at a value."""
    mantissa, least = {"f32": (23, -126), "f16": (10, -14), "bf16": (7, -126)}[dtype]
    magnitude = np.where(np.isfinite(want) & (want != 0), np.abs(want), 2.0**least)
    return np.exp2(np.maximum(np.floor(np.log2(magnitude)), least) - mantissa)


def within(dtype, ulps):
    """Whether bits are those of numbers at most so many ulp (an array or a function of the inputs) from what is wanted, in float64."""
    def near(got, want):
        value = elements.decode(dtype, got)
        most = np.finfo(np.float32).max if dtype == "f32" else elements.table(dtype)[-2]
        with np.errstate(all="ignore"):
            want = np.asarray(want, np.float64).reshape(value.shape)
            slack = (ulps + 0.5) * step(dtype, want)
            close = np.abs(value - want) <= slack
            to_infinity = np.isinf(value) & (np.sign(value) == np.sign(want)) & (np.abs(want) + slack > most)
            to_largest = np.isinf(want) & (value == want)
        return close | to_infinity | to_largest | (np.isnan(value) & np.isnan(want))
    return near


def gelu(kind, x):
    z = 1.702 * x if kind == "sigmoid" else 2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    return x * numpy_ops.sigmoid(z), np.where(x < 0, (1.25 if kind == "sigmoid" else 3) * np.abs(z), 0)


FUNCTIONS = [(op, "", fn, numpy_ops.row_ulp(op)) for op, (fn, _) in numpy_ops.FLOATS.items()]
FUNCTIONS += [("gelu", ' {approx = "%s"}' % a if a != "tanh" else "", lambda x, a=a: gelu(a, x)[0], numpy_ops.row_ulp("gelu")) for a in ("tanh", "sigmoid")]


def ordered(x, y, largest):
    """-0 is below +0; NaN is not looked at."""
    first = np.where(x == y, np.signbit(x) != largest, (x > y) == largest)
    return np.where(first, x, y)


def extreme(largest, nan):
    def of(x, y):
        if x.dtype == object:
            return np.maximum(x, y) if largest else np.minimum(x, y)
        r = ordered(x, y, largest)
        if nan == "ignore":
            return np.where(np.isnan(x), y, np.where(np.isnan(y), x, r))
        return np.where(np.isnan(x) | np.isnan(y), np.nan, r)
    return of


def truncated(x, y):
    """Of Python integers, towards zero."""
    q = np.array([abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(np.ravel(x), np.ravel(y))], dtype=object)
    return q.reshape(np.shape(x))


def form(Form, name, dtype, inputs, type_out, text, want, sizes=SHAPES, near=None, others=None):
    f = Form(name, inputs, {"y": type_out}, text, want, sizes, prepare=lambda n, t, shape, rng: given(t, edge_array(t, shape, rng, others)))
    f.near = near
    f.may_be_refused = True
    return f


def unary(Form):
    for dtype in FLOATS + INTEGERS:
        t = f"<A x B x {dtype}>"
        for op, fn in numpy_ops.NUMBERS.items():
            yield form(Form, f"{op}-{dtype}", dtype, {"x": t}, t, f"%y = tensor.{op} %x : {t}", lambda x, d=dtype, fn=fn: exact(fn)(d, x).reshape(x.shape))
        if dtype not in FLOATS:
            continue
        for op, attribute, fn, ulps in FUNCTIONS:
            def limit(got, want, d=dtype, a=attribute, u=ulps, o=op):
                return within(d, u if o != "gelu" else u + want[1])(got, want[0])
            # gelu on large negative values is 0 in any precision; its bound grows with |z| there.
            def wanted(x, d=dtype, fn=fn, o=op, a=attribute):
                v = elements.decode(d, x)
                return fn(v), gelu("sigmoid" if a else "tanh", v)[1] if o == "gelu" else 0
            turns = np.array([b for b in edges(dtype) if not np.abs(elements.decode(dtype, b)) > numpy_ops.TURNS[op]], elements.bits_type(dtype)) if op in numpy_ops.TURNS else None
            yield form(Form, f"{op}{attribute.replace(' ', '')}-{dtype}", dtype, {"x": t}, t, f"%y = tensor.{op} %x{attribute} : {t}", wanted, near=limit, others=turns)


def binary(Form):
    for dtype in FLOATS + INTEGERS:
        t, row = f"<A x B x {dtype}>", f"<1 x B x {dtype}>"
        for op, fn in numpy_ops.PAIRS.items():
            yield form(Form, f"{op}-{dtype}", dtype, {"x": t, "z": t}, t, f"%y = tensor.{op} %x, %z : {t}", lambda x, z, d=dtype, fn=fn: exact(fn)(d, x, z).reshape(x.shape))
        numbers = None if dtype in FLOATS else np.array([b for b in edges(dtype) if b], elements.bits_type(dtype))
        fn = np.divide if dtype in FLOATS else truncated
        f = form(Form, f"div-{dtype}", dtype, {"x": t, "z": t}, t, f"%y = tensor.div %x, %z : {t}", lambda x, z, d=dtype, fn=fn: exact(fn)(d, x, z).reshape(x.shape))
        if numbers is not None:
            f.prepare = lambda n, d, shape, rng, k=numbers: given(d, rng.choice(k, shape) if n == "z" else edge_array(d, shape, rng))
        yield f
        for op, largest in (("maximum", True), ("minimum", False)):
            for nan in ("propagate", "ignore") if dtype in FLOATS else ("propagate",):
                yield form(Form, f"{op}-{nan}-{dtype}", dtype, {"x": t, "z": row}, t, f'%y = tensor.{op} %x, %z {{nan = "{nan}"}} : {t}',
                           lambda x, z, d=dtype, l=largest, n=nan: exact(extreme(l, n))(d, x, np.broadcast_to(z, x.shape)).reshape(x.shape))


def pairs(Form):
    """Functions of two operands, and what keeps a number within two others."""
    for dtype in FLOATS + INTEGERS:
        t, row = f"<A x B x {dtype}>", f"<B x {dtype}>"
        value = lambda x, d=dtype: elements.decode(d, x)
        rows = [(op, f[0] if dtype in FLOATS else f[1]) for op, f in numpy_ops.REMAINDERS.items()]
        rows += [(op, f) for op, (f, _) in numpy_ops.FLOAT_PAIRS.items() if dtype in FLOATS]
        divisors = None if dtype in FLOATS else np.array([b for b in edges(dtype) if b], elements.bits_type(dtype))
        signs = np.array([b for b in edges(dtype) if not np.isnan(elements.decode(dtype, b))], elements.bits_type(dtype)) if dtype in FLOATS else None
        for op, fn in rows:
            def wanted(x, z, d=dtype, fn=fn):
                if d in FLOATS:
                    return fn(elements.decode(d, x), elements.decode(d, z))
                return elements.int_bits(d, fn(elements.decode(d, x).astype(object), elements.decode(d, z).astype(object)))
            ulps = numpy_ops.row_ulp(op)
            near = (lambda got, want, d=dtype, u=ulps: within(d, u)(got, want)) if dtype in FLOATS else None
            f = form(Form, f"{op}-{dtype}", dtype, {"x": t, "z": t}, t, f"%y = tensor.{op} %x, %z : {t}", wanted, near=near)
            second = signs if op == "copysign" else divisors
            f.prepare = lambda n, d, shape, rng, k=second: given(d, rng.choice(k, shape) if n == "z" and k is not None else edge_array(d, shape, rng))
            yield f
        for op, fn in numpy_ops.DIVISORS.items():
            if dtype in FLOATS:
                break
            fibonacci = elements.int_bits(dtype, [0, 0, 89, 55, -89, 144, 233, 28657, 46368, 17711, 1836311903, 1134903170, -1134903170, 2971215073] + list(edges(dtype)[:6]))
            yield form(Form, f"{op}-{dtype}", dtype, {"x": t, "z": row}, t, f"%y = tensor.{op} %x, %z : {t}",
                       lambda x, z, d=dtype, fn=fn, value=value: elements.int_bits(d, fn(value(x).astype(object), np.broadcast_to(value(z), x.shape).astype(object))).reshape(x.shape), others=fibonacci)
        for op, fn in numpy_ops.BITS.items():
            if dtype in FLOATS:
                break
            text = f"%y = tensor.bitwise_{op} %x{', %z' if fn else ''} : {t}"
            yield form(Form, f"bitwise_{op}-{dtype}", dtype, {"x": t, "z": t} if fn else {"x": t}, t, text, fn or (lambda x: ~x))
        for op, fn in numpy_ops.SHIFTS.items():
            if dtype in FLOATS:
                break
            counts = elements.int_bits(dtype, list(range(0, 8 * elements.size(dtype) + 2)) + [-1])
            f = form(Form, f"{op}-{dtype}", dtype, {"x": t, "z": row}, t, f"%y = tensor.{op} %x, %z : {t}",
                     lambda x, z, fn=fn, d=dtype, value=value: elements.int_bits(d, fn(value(x).astype(object), np.broadcast_to(value(z), x.shape).astype(object), 8 * elements.size(d))))
            f.prepare = lambda n, d, shape, rng, k=counts: given(d, rng.choice(k, shape) if n == "z" else edge_array(d, shape, rng))
            yield f
        def clipped(x, low, high, d=dtype):
            if d not in FLOATS:
                return np.minimum(np.maximum(x.view(elements.int_type(d)), low.view(elements.int_type(d))), high.view(elements.int_type(d))).view(elements.bits_type(d))
            return exact(lambda a, b, c: extreme(False, "propagate")(extreme(True, "propagate")(a, b), c))(d, x, np.broadcast_to(low, x.shape), np.broadcast_to(high, x.shape)).reshape(x.shape)
        yield form(Form, f"clip-{dtype}", dtype, {"x": t, "low": row, "high": row}, t, f"%y = tensor.clip %x, %low, %high : {t}", clipped)


def truths(shape, rng):
    return given("bool", rng.integers(0, 2, shape).astype(np.uint8))


def truth_values(Form):
    """Comparisons, choices and logic; conditions are loaded, computed, repeated along rows and columns, and stored."""
    b = "<A x B x bool>"
    parts = {"x": "A x B", "row": "1 x B", "column": "A x 1"}
    as_truth = lambda r, x: np.broadcast_to(r, x.shape).astype(np.uint8)
    for dtype in FLOATS + INTEGERS:
        t = f"<A x B x {dtype}>"
        value = lambda x, d=dtype: elements.decode(d, x)
        for word, fn in numpy_ops.RELATIONS.items():
            near = np.concatenate([edges(dtype)[:6]] * 4 + [edges(dtype)])
            yield form(Form, f"{word}-{dtype}", dtype, {"x": t, "z": t}, b, f"%y = tensor.{word} %x, %z : {b}",
                       lambda x, z, fn=fn, value=value: as_truth(fn(value(x), value(z)), x), others=near)
        for part, dims in parts.items():
            yield form(Form, f"lt-{part}-{dtype}", dtype, {"x": t, "z": f"<{dims} x {dtype}>"}, b, f"%y = tensor.lt %z, %x : {b}",
                       lambda x, z, value=value: as_truth(value(z) < value(x), x))
            f = form(Form, f"where-{part}-{dtype}", dtype, {"c": f"<{dims} x bool>", "x": t, "z": t}, t, f"%y = tensor.where %c, %x, %z : {t}",
                     lambda c, x, z: np.where(c, x, z).astype(x.dtype))
            f.prepare = lambda n, d, shape, rng: truths(shape, rng) if d == "bool" else given(d, edge_array(d, shape, rng))
            yield f
        number, zero = ("1.5", "0.0") if dtype in FLOATS else ("3", "0")
        bits = elements.encode(dtype, [1.5])[0] if dtype in FLOATS else elements.int_bits(dtype, [3])[0]
        yield form(Form, f"where-numbers-{dtype}", dtype, {"x": t}, t, f"""%k = tensor.constant {{value = {number}}} : <{dtype}>
                   %c = tensor.ge %k, %x : {b}
                   %a = tensor.where %c, %k, %x : {t}
                   %d = tensor.gt %x, %k : {b}
                   %y = tensor.where %d, %a, %k : {t}""",
                   lambda x, k=bits, value=value, d=dtype: np.where(value(x) > value(np.array([k], elements.bits_type(d)))[0], x, k).astype(x.dtype))
        yield form(Form, f"truth-of-{dtype}", dtype, {"x": t}, b, f"%y = tensor.cast %x : {b}", lambda x, value=value: as_truth(value(x) != 0, x))
        for name, fn in numpy_ops.LOGIC.items():
            if dtype not in ("f32", "bf16", "i32", "i8"):
                continue
            operands = {"x": t} if name == "logical_not" else {"x": t, "z": t}
            few = elements.encode(dtype, [0.0, -0.0, np.nan, 1.0]) if dtype in FLOATS else elements.int_bits(dtype, [0, 0, 1, -1])
            yield form(Form, f"{name}-{dtype}", dtype, operands, b, f"%y = tensor.{name} {', '.join('%' + o for o in operands)} : {b}",
                       lambda *v, fn=fn, value=value: as_truth(fn(*[value(x) for x in v]), v[0]), others=few)
        f = form(Form, f"number-of-truth-{dtype}", dtype, {"c": b}, t, f"%y = tensor.cast %c : {t}",
                 lambda c, d=dtype: elements.convert(d, "bool", c, "rint", False, False))
        f.prepare = lambda n, d, shape, rng: truths(shape, rng)
        yield f
    for dtype in FLOATS:
        t = f"<A x B x {dtype}>"
        for name, fn in numpy_ops.CLASSES.items():
            yield form(Form, f"{name}-{dtype}", dtype, {"x": t}, b, f"%y = tensor.{name} %x : {b}", lambda x, fn=fn, d=dtype: as_truth(fn(elements.decode(d, x)), x))
    for name, fn in numpy_ops.LOGIC.items():
        for part, dims in parts.items():
            operands = {"x": b} if name == "logical_not" else {"x": b, "z": f"<{dims} x bool>"}
            f = form(Form, f"{name}-{part}", "bool", operands, b, f"%y = tensor.{name} {', '.join('%' + o for o in operands)} : {b}",
                     lambda *v, fn=fn: as_truth(fn(*v), v[0]))
            f.prepare = lambda n, d, shape, rng: truths(shape, rng)
            yield f
    for op in ("eq", "ne", "bitwise_and", "bitwise_or", "bitwise_xor"):
        fn = numpy_ops.RELATIONS.get(op) or numpy_ops.BITS[op.partition("_")[2]]
        f = form(Form, f"{op}-of-truth", "bool", {"x": b, "z": b}, b, f"%y = tensor.{op} %x, %z : {b}", lambda x, z, fn=fn: as_truth(fn(x, z), x))
        f.prepare = lambda n, d, shape, rng: truths(shape, rng)
        yield f
    f = form(Form, "where-of-truth", "bool", {"c": b, "x": b, "z": "<B x bool>"}, b, f"%y = tensor.where %c, %x, %z : {b}",
             lambda c, x, z: np.where(c, x, z).astype(np.uint8))
    f.prepare = lambda n, d, shape, rng: truths(shape, rng)
    yield f
    f = form(Form, "broadcast-of-truth", "bool", {"c": "<A x 1 x bool>", "z": "<B x bool>"}, b, f"%y = tensor.broadcast %c : {b}",
             lambda c, z: np.broadcast_to(c, (c.shape[0], z.shape[0])).copy())
    f.prepare = lambda n, d, shape, rng: truths(shape, rng)
    yield f
    for name, fn in (("any", np.any), ("all", np.all)):
        for space, axes, kept in SPACES:
            f = form(Form, f"{name}-[{space}]-{list(axes)}", "bool", {"x": f"<{space} x bool>"}, f"<{kept} x bool>",
                     f"%y = tensor.{name} %x {{axis = {list(axes)}}} : <{kept} x bool>", lambda x, fn=fn, a=axes: fn(x, axis=a, keepdims=True).astype(np.uint8),
                     [{k: v for k, v in s.items() if k in space} for s in BOXES])
            f.prepare = lambda n, d, shape, rng, p=(0.02 if name == "any" else 0.98): given("bool", (rng.random(shape) < p).astype(np.uint8))
            yield f
    # A condition of each row, found in the row itself.
    yield form(Form, "where-by-row-statistic", "f32", {"x": "<A x B x f32>"}, "<A x B x f32>", """%m = tensor.reduce_max %x {axis = 1, nan = "ignore"} : <A x 1 x f32>
               %zero = tensor.constant {value = 0.0} : <f32>
               %c = tensor.gt %m, %zero : <A x 1 x bool>
               %n = tensor.neg %x : <A x B x f32>
               %y = tensor.where %c, %x, %n : <A x B x f32>""",
               lambda x: np.where(np.any(elements.decode("f32", x) > 0, 1, keepdims=True), x, x ^ np.uint32(1 << 31)).astype(np.uint32), [s for s in SHAPES if s["B"]])


def nothing(op, dtype):
    """The result of a reduction of no element."""
    if op in ("sum", "mean"):
        return 0 if op == "sum" else np.nan
    if dtype in FLOATS:
        return -np.inf if op == "max" else np.inf
    return elements.limits(dtype)[0 if op == "max" else 1]


def reduced(op, dtype, nan, axes):
    def along(values):
        count = int(np.prod([values.shape[a] for a in axes]))
        shape = [1 if i in axes else n for i, n in enumerate(values.shape)]
        if count == 0:
            return np.full(shape, nothing(op, dtype), dtype=values.dtype)
        if op in ("sum", "mean"):
            total = np.sum(values, axes, keepdims=True)
            return total / count if op == "mean" else total
        moved = np.moveaxis(values, axes, range(len(axes))).reshape(count, -1)
        result = moved[0]
        for line in moved[1:]:
            result = extreme(op == "max", nan)(result, line)
        return result.reshape(shape)

    def want(x):
        if dtype in FLOATS:
            return along(elements.decode(dtype, x))
        return elements.int_bits(dtype, along(elements.decode(dtype, x).astype(object)))
    return want


SPACES = (("A x B", (1,), "A x 1"), ("A x B", (0,), "1 x B"), ("A x B x C", (1,), "A x 1 x C"), ("A x B x C", (0, 2), "1 x B x 1"), ("A x B x C", (0, 1, 2), "1 x 1 x 1"))
BOXES = [dict(A=5, B=13, C=7), dict(A=1, B=1, C=1), dict(A=0, B=3, C=2), dict(A=3, B=0, C=2), dict(A=3, B=2, C=0), dict(A=0, B=0, C=0), dict(A=2, B=1031, C=3)]


def reductions(Form):
    for dtype in FLOATS + INTEGERS:
        for op in ("sum", "max", "min") + (("mean",) if dtype in FLOATS else ()):
            for nan in ("propagate", "ignore") if op in ("max", "min") and dtype in FLOATS else ("",):
                for number, (space, axes, kept) in enumerate(SPACES):
                    # Every space with f32 and u8; of the other types two spaces each.
                    if dtype not in ("f32", "u8") and number not in (0, 1 + elements.TYPES[dtype][0] % 4):
                        continue
                    attributes = f"axis = {list(axes)}" + (f', nan = "{nan}"' if nan else "")
                    is_sum = op in ("sum", "mean") and dtype in FLOATS
                    numbers = elements.encode(dtype, [np.inf, 1.0, -1.0, 0.25, -0.0, 0.0, 3.0]) if is_sum else None
                    if dtype in FLOATS and not is_sum and nan == "ignore":
                        # Rows of NaN alone stay NaN.
                        numbers = np.concatenate([edges(dtype), np.repeat(elements.encode(dtype, [np.nan]), 60)])

                    def near(got, want, d=dtype, s=is_sum):
                        if not s:
                            return elements.canonical(d, got) == elements.canonical(d, elements.encode(d, np.ravel(want)).reshape(got.shape))
                        return within(d, 0.5)(got, want) | (np.abs(elements.decode(d, got) - want) <= 1e-3 * (1 + np.abs(want)))

                    yield form(Form, f"{op}{'-' + nan if nan else ''}-[{space}]-{list(axes)}-{dtype}", dtype, {"x": f"<{space} x {dtype}>"}, f"<{kept} x {dtype}>",
                               f"%y = tensor.reduce_{op} %x {{{attributes}}} : <{kept} x {dtype}>", reduced(op, dtype, nan or "propagate", axes),
                               [{k: v for k, v in s.items() if k in space} for s in BOXES], near if dtype in FLOATS else None, numbers)


def scalars(Form):
    """Scalars as operands, on either side; and as every element."""
    for dtype in FLOATS + INTEGERS:
        t, b = f"<A x B x {dtype}>", "<A x B x bool>"
        value = lambda x, d=dtype: elements.decode(d, x)
        whole = dtype not in FLOATS
        rows = [(op, fn) for op, fn in numpy_ops.PAIRS.items()]
        rows += [("maximum", extreme(True, "propagate")), ("minimum", extreme(False, "propagate")), ("div", truncated if whole else np.divide)]
        for op, fn in rows:
            for side in ("%x, %s", "%s, %x"):
                turned = side == "%s, %x"
                want = lambda x, s, d=dtype, fn=fn, turned=turned: exact(lambda p, q: fn(np.broadcast_to(q, p.shape), p) if turned else fn(p, np.broadcast_to(q, p.shape)))(d, x, s).reshape(x.shape)
                f = form(Form, f"{op}-{'scalar-left' if turned else 'scalar-right'}-{dtype}", dtype, {"x": t, "s": dtype}, t, f"%y = tensor.{op} {side} : {t}", want)
                if op == "div" and whole:
                    numbers = np.array([k for k in edges(dtype) if k], elements.bits_type(dtype))
                    f.prepare = lambda n, d, shape, rng, k=numbers: given(d, rng.choice(k, shape))
                yield f
        yield form(Form, f"lt-scalar-{dtype}", dtype, {"x": t, "s": dtype}, b, f"%y = tensor.lt %s, %x : {b}",
                   lambda x, s, value=value: np.broadcast_to(value(s) < value(x), x.shape).astype(np.uint8))
        yield form(Form, f"where-scalar-{dtype}", dtype, {"x": t, "s": dtype, "z": dtype}, t, f"""%c = tensor.le %x, %s : {b}
                   %d = tensor.where %c, %s, %x : {t}
                   %e = tensor.ge %z, %x : {b}
                   %y = tensor.where %e, %d, %z : {t}""",
                   lambda x, s, z, value=value: np.where(value(z) >= value(x), np.where(value(x) <= value(s), s, x), z).astype(x.dtype))
        yield form(Form, f"full-{dtype}", dtype, {"x": t, "s": dtype}, t, f"%y = tensor.full %s : {t}", lambda x, s: np.broadcast_to(s, x.shape).copy())


def chosen(Form):
    """Products, variances, and where the extreme is. NaN and equal ones are frequent."""
    for dtype in FLOATS + INTEGERS:
        for number, (space, axes, kept) in enumerate(SPACES):
            if dtype not in ("f32", "i32") and number not in (0, 1 + elements.TYPES[dtype][0] % 4):
                continue
            sizes = [{k: v for k, v in s.items() if k in space} for s in BOXES]
            def rows(x, axes=axes, d=dtype):
                v = elements.decode(d, x)
                moved = np.moveaxis(v, axes, range(-len(axes), 0))
                return moved.reshape(*moved.shape[: v.ndim - len(axes)], int(np.prod([v.shape[a] for a in axes])))
            def back(r, x, axes=axes):
                return np.asarray(r).reshape([1 if i in axes else e for i, e in enumerate(x.shape)])
            attributes = f"axis = {list(axes)}"
            few = elements.encode(dtype, [1.0, -1.0, 2.0, 0.5, 1.0, -1.0]) if dtype in FLOATS else elements.int_bits(dtype, [1, -1, 3, 1, 1])
            def product(x, rows=rows, back=back, d=dtype):
                r = rows(x)
                return back(elements.encode(d, np.ravel(np.prod(r, -1))), x) if d in FLOATS else back(elements.int_bits(d, np.ravel(np.multiply.reduce(r.astype(object), -1, initial=1))), x)
            f = form(Form, f"prod-[{space}]-{list(axes)}-{dtype}", dtype, {"x": f"<{space} x {dtype}>"}, f"<{kept} x {dtype}>",
                     f"%y = tensor.reduce_prod %x {{{attributes}}} : <{kept} x {dtype}>", product, [s for s in sizes if np.prod(list(s.values())) < 1000], others=few)
            f.prepare = lambda n, d, shape, rng, k=few: given(d, rng.choice(k, shape))
            yield f
            full = [s for s in sizes if all(s["ABC"[a]] for a in axes)]
            for op, fn in (("argmax", np.argmax), ("argmin", np.argmin)):
                for out in ("i32", "i64"):
                    text = f"%y = tensor.{op} %x {{{attributes}, out = {out}}} : <{kept} x {out}>"
                    yield form(Form, f"{op}-[{space}]-{list(axes)}-{dtype}-{out}", dtype, {"x": f"<{space} x {dtype}>"}, f"<{kept} x {out}>", text,
                               lambda x, fn=fn, rows=rows, back=back, o=out: back(fn(rows(x), -1).astype(elements.bits_type(o)), x), full)
            if dtype not in FLOATS:
                continue
            def variance(x, rows=rows, back=back):
                return back(np.var(rows(x), -1), x)
            f = form(Form, f"var-[{space}]-{list(axes)}-{dtype}", dtype, {"x": f"<{space} x {dtype}>"}, f"<{kept} x {dtype}>",
                     f"%y = tensor.var %x {{{attributes}}} : <{kept} x {dtype}>", variance, sizes,
                     lambda got, want, d=dtype: within(d, 1)(got, want) | (np.abs(elements.decode(d, got) - want) <= 1e-4 * (1 + np.abs(want))))
            f.prepare = lambda n, d, shape, rng: given(d, elements.encode(d, rng.standard_normal(int(np.prod(shape))) + 3).reshape(shape) if np.prod(shape) else np.zeros(shape, elements.bits_type(d)))
            yield f


def indices(Form):
    """Indices along each dim, and triangles, whose other half may hold anything."""
    for dtype in FLOATS + INTEGERS:
        t = f"<A x B x C x {dtype}>"
        made = lambda v, d=dtype: elements.encode(d, np.ravel(v).astype(float)).reshape(v.shape) if d in FLOATS else elements.int_bits(d, v.astype(object)).reshape(v.shape)
        for axis in range(3):
            along = lambda x, axis=axis: np.broadcast_to(np.arange(x.shape[axis]).reshape([-1 if d == axis else 1 for d in range(3)]), x.shape)
            yield form(Form, f"iota-{axis}-{dtype}", dtype, {"x": t}, t, f"%y = tensor.iota {{axis = {axis}}} : {t}", lambda x, along=along, made=made: made(along(x)), BOXES)
        for op, fn in (("tril", np.tril), ("triu", np.triu)):
            for diagonal in (0, 2, -3):
                yield form(Form, f"{op}-{diagonal}-{dtype}", dtype, {"x": t}, t, f"%y = tensor.{op} %x {{diagonal = {diagonal}}} : {t}",
                           lambda x, fn=fn, k=diagonal: np.where(fn(np.ones(x.shape[1:], bool), k), x, 0).astype(x.dtype), BOXES)
    b = "<A x B x bool>"
    f = form(Form, "tril-bool", "bool", {"x": b}, b, f"%y = tensor.tril %x : {b}", lambda x: np.tril(x).astype(np.uint8))
    f.prepare = lambda n, d, shape, rng: truths(shape, rng)
    yield f


def shapes(Form):
    """What moves numbers keeps their bits: NaN payloads too, except for what arithmetic has touched."""
    for dtype in FLOATS + INTEGERS:
        t = f"<A x B x {dtype}>"
        yield form(Form, f"transpose-{dtype}", dtype, {"x": t}, f"<B x A x {dtype}>", f"%y = tensor.transpose %x {{perm = [1, 0]}} : <B x A x {dtype}>", lambda x: x.T.copy())
        yield form(Form, f"broadcast-{dtype}", dtype, {"x": f"<A x 1 x {dtype}>", "z": f"<B x {dtype}>"}, t, f"%y = tensor.broadcast %x : {t}",
                   lambda x, z: np.broadcast_to(x, (x.shape[0], z.shape[0])).copy())


def products(Form):
    sizes = [dict(M=3, N=5, K=7), dict(M=1, N=1, K=1), dict(M=17, N=33, K=0), dict(M=0, N=3, K=2), dict(M=31, N=2, K=67)]
    for dtype in ("f16", "bf16", "f32"):
        numbers = elements.encode(dtype, [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 0.5, -3.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 0.25, 0.5])
        def want(a, b, d=dtype):
            x, y = elements.decode(d, a), elements.decode(d, b)
            return np.sum(x[:, :, None] * y[None], 1)
        f = form(Form, f"product-{dtype}", dtype, {"a": f"<M x K x {dtype}>", "b": f"<K x N x {dtype}>"}, "<M x N x f32>",
                 "%y = tensor.matmul %a, %b {out = f32} : <M x N x f32>", want, sizes,
                 lambda got, want: within("f32", 0.5)(got, want) | (np.abs(elements.decode("f32", got) - want) <= 1e-4 * (1 + np.abs(want))), numbers)
        f.prepare = lambda n, t, shape, rng, k=numbers: given(t, rng.choice(k, shape))
        yield f


def quantised(to, x, scale, zero):
    """Bits of what tensor.quantize makes: the quotient in float32, the rest exact."""
    q = np.rint((x.astype(np.float32) / scale.astype(np.float32)).astype(np.float64)) + zero
    lo, hi = elements.limits(to)
    return elements.int_bits(to, np.array([0 if np.isnan(v) else int(min(max(v, lo), hi)) for v in np.ravel(q)], dtype=object)).reshape(np.shape(q))


def quantisation(Form):
    for dtype in FLOATS:
        for to in ("i8", "u8", "i16"):
            t = f"<A x B x {to}>"
            def made(x, s, z=None, d=dtype, to=to):
                zero = 0 if z is None else elements.decode(to, z).astype(np.float64)
                return quantised(to, elements.decode(d, x), np.broadcast_to(elements.decode("f32", s), x.shape), zero)
            inputs = {"x": f"<A x B x {dtype}>", "s": "<A x 1 x f32>"}
            yield form(Form, f"quantize-{dtype}-{to}", dtype, inputs, t, f"%y = tensor.quantize %x, %s : {t}", made)
            yield form(Form, f"quantize-zero-{dtype}-{to}", dtype, {**inputs, "z": f"<B x {to}>"}, t, f"%y = tensor.quantize %x, %s, %z : {t}", made)
            def back(q, s, z, d=dtype, to=to):
                with np.errstate(all="ignore"):
                    y = (elements.decode(to, q).astype(np.float32) - elements.decode(to, z).astype(np.float32)) * elements.decode("f32", s).astype(np.float32)
                return elements.encode(d, np.ravel(y).astype(np.float64)).reshape(q.shape)
            yield form(Form, f"dequantize-{to}-{dtype}", dtype, {"x": t, "s": "<B x f32>", "z": f"<A x 1 x {to}>"}, f"<A x B x {dtype}>",
                       f"%y = tensor.dequantize %x, %s, %z : <A x B x {dtype}>", back)
        def blocks(x, d=dtype):
            v = elements.decode(d, x).astype(np.float32).reshape(x.shape[0], 4, 8)
            with np.errstate(all="ignore"):
                s = np.abs(v).max(-1, keepdims=True, initial=0) / np.float32(127)
                s = np.where(s == 0, np.float32(1), s)
            return quantised("i8", v, s, 0).reshape(x.shape), elements.encode("f32", np.ravel(s).astype(np.float64)).reshape(x.shape[0], 4)
        f = form(Form, f"quantize_block-{dtype}", dtype, {"x": f"<A x 32 x {dtype}>"}, "<A x 32 x i8>",
                 "%y, %s = tensor.quantize_block %x {block = 8} : <A x 32 x i8>, <A x 4 x f32>", blocks)
        f.outputs = {"y": "<A x 32 x i8>", "s": "<A x 4 x f32>"}
        yield f


def listed(dtype, bits):
    """A dense constant in the text form."""
    values = elements.decode(dtype, bits)
    words = [str(int(v)) for v in values] if not elements.is_float(dtype) else ["nan" if np.isnan(v) else repr(float(v)) for v in values]
    return f"{{value = dense [{', '.join(words)}] : <{len(words)} x {dtype}>}} : <{len(words)} x {dtype}>"


def folded(Form):
    """Ops on constants, which the default pipeline computes while it compiles."""
    rng = np.random.default_rng(11)
    for dtype in FLOATS + INTEGERS:
        t = f"<16 x {dtype}>"
        rows = [("neg", "", np.negative, 1), ("abs", "", np.abs, 1), ("sign", "", np.sign, 1)] + [(op, "", fn, 2) for op, fn in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply))]
        rows += [("div", "", np.divide if dtype in FLOATS else truncated, 2)]
        rows += [(op, f' {{nan = "{nan}"}}', extreme(op == "maximum", nan), 2) for op in ("maximum", "minimum") for nan in ("propagate", "ignore")]
        for op, attribute, fn, count in rows:
            a, b = (rng.choice(edges(dtype), 16) for _ in range(2))
            if op == "div" and dtype not in FLOATS:
                b = np.where(b == 0, elements.bits_type(dtype)(1), b)
            operands = (a, b)[:count]
            with np.errstate(all="ignore"):
                made = exact(fn)(dtype, *operands)
            text = "\n".join(f"%c{i} = tensor.constant {listed(dtype, o)}" for i, o in enumerate(operands))
            text += f"\n%y = tensor.{op} {', '.join(f'%c{i}' for i in range(count))}{attribute} : {t}"
            f = Form(f"folded-{op}{attribute.split(chr(34))[1] if attribute else ''}-{dtype}", {}, {"y": t}, text, lambda made=made: made, [{}],
                     prepare=lambda *_: None)
            f.may_be_refused = True
            yield f


def single_ops(Form):
    for group in (unary, binary, pairs, scalars, truth_values, reductions, chosen, indices, shapes, products, quantisation, folded):
        yield from group(Form)
