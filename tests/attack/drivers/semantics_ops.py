"""Single ops for semantics_blames.py: functions, composites, orders, scans, places by indices, integers of 64 bits."""

FUNCTIONS = (
    "sign exp2 expm1 log2 log10 log1p sinh cosh asinh acosh atanh cbrt sin cos tan asin acos atan erf erfc floor ceil round trunc"
).split()
PAIRS = "mod fmod floordiv pow prelu copysign hypot atan2 swiglu".split()
FLOATS = ("f32", "f16", "bf16")
KINDS = ("function", "function", "pair", "clip", "wide", "attention", "conv2d", "var", "cross_entropy", "scaled_matmul", "sort", "scan", "add_at", "norm", "quantize")


def type_of(dims, dtype):
    return "tensor<" + " x ".join([*map(str, dims), dtype]) + ">"


def module(op, arguments, attrs, results, before=""):
    """arguments: (name, dims, element type); results: (dims, element type); before: lines that make more operands, by name."""
    types = ", ".join(type_of(*t) for t in results)
    names = ", ".join(f"%y{i}" for i in range(len(results)))
    parameters = ", ".join(f"%{n}: {type_of(d, t)}" for n, d, t in arguments if t is not None)
    used = ", ".join(f"%{n}" for n, _, _ in arguments)
    words = " {" + ", ".join(attrs) + "}" if attrs else ""
    return f"func @f({parameters}) -> ({types}) {{\n{before}  {names} = tensor.{op} {used}{words} : {types}\n  return {names}\n}}\n"


def elementwise(r, dims, count, op, t):
    rows = [("abc"[i], dims if i == 0 or r.random() < 0.5 else [d if r.random() < 0.5 else 1 for d in dims], t) for i in range(count)]
    return module(op, rows, [], [(dims, t)])


def wide(r, dims):
    """Of 64 bits: arithmetic, bits, relations, reductions."""
    t, kind = r.choice(("i64", "u64")), r.choice(("pair", "pair", "reduce", "relation"))
    if kind == "pair":
        op = r.choice(("add", "sub", "mul", "maximum", "minimum", "bitwise_and", "bitwise_xor"))
        return module(op, [("a", dims, t), ("b", dims, t)], [], [(dims, t)])
    if kind == "relation":
        return module(r.choice(("eq", "ne", "lt", "ge")), [("a", dims, t), ("b", dims, t)], [], [(dims, "bool")])
    axis = r.randrange(len(dims))
    op = r.choice(("reduce_sum", "reduce_max", "reduce_min"))
    return module(op, [("a", dims, t)], [f"axis = {axis}"], [([1 if i == axis else d for i, d in enumerate(dims)], t)])


def attention(r, t):
    heads, shared, queries, keys = r.choice((1, 2, 4)), r.choice((1, 1, 2)), r.choice((1, 5, 33, 128)), r.choice((7, 64, 130, 512))
    elements, values = r.choice((8, 16, 64)), r.choice((8, 16, 64))
    rows = [("q", [heads * shared, queries, elements], t), ("k", [heads, keys, elements], t), ("v", [heads, keys, values], t)]
    mask = r.choice((None, None, "bool", "f32", t))
    if mask:
        rows.append(("m", [queries, keys], mask))
    attrs = ["causal = true"] if r.random() < 0.4 and keys >= queries else []
    if r.random() < 0.4:
        attrs.append(f"scale = {r.choice((0.125, 0.3, -1.7))}")
    return module("attention", rows, attrs, [([heads * shared, queries, values], t)])


def conv2d(r, t):
    groups, channels, results = r.choice((1, 1, 2)), r.choice((1, 3, 16)), r.choice((1, 4, 16))
    kernel, size = [r.choice((1, 2, 3)), r.choice((1, 3))], [r.choice((5, 20, 33)), r.choice((7, 24, 32))]
    t = r.choice((t, "i8"))
    to = "i32" if t == "i8" else r.choice((t, "f32"))
    strides, low = [r.choice((1, 2)), r.choice((1, 2))], [r.choice((0, 1)), r.choice((0, 1))]
    rows = [("x", [2, *size, channels * groups], t), ("w", [*kernel, channels, results * groups], t)]
    if r.random() < 0.5:
        rows.append(("b", [results * groups], "i32" if t == "i8" else r.choice((t, "f32"))))
    attrs = [f"groups = {groups}", f"strides = {strides}", f"low = {low}", f"high = {low}"] + ([f"out = {to}"] if to != t else [])
    dims = [(s + 2 * p - k) // d + 1 for s, p, k, d in zip(size, low, kernel, strides)]
    return module("conv2d", rows, attrs, [([2, *dims, results * groups], to)])


def scaled_matmul(r, t):
    m, n, blocks, block = r.choice((1, 16, 64)), r.choice((1, 16, 50)), r.choice((1, 4, 9)), r.choice((2, 32))
    t, to = r.choice((t, "i8")), r.choice(("f32", "f16"))
    turns = [r.random() < 0.3 for _ in range(2)]
    shapes = [[m, blocks * block], [blocks * block, n], [m, blocks], [blocks, n]]
    rows = [(name, d[::-1] if turns[i % 2] else d, t if i < 2 else "f32") for i, (name, d) in enumerate(zip("abst", shapes))]
    attrs = [f"block = {block}", f"out = {to}"] + [f"transpose_{name} = true" for name, turned in zip("ab", turns) if turned]
    return module("scaled_matmul", rows, attrs, [([m, n], to)])


def with_index(r, dims, op, t):
    """Indices are a constant: numbers at random would leave the tensor."""
    rows, columns = max(dims[0], 1), dims[-1] if len(dims) > 1 else 1
    count = min(rows, 16)  # as many as a constant lists
    if op == "cross_entropy":
        index = [r.randrange(columns) for _ in range(count)]
        line = f"  %i = tensor.constant {{value = dense {index} : tensor<{count} x i32>}} : tensor<{count} x i32>\n"
        return module(op, [("x", [count, columns], t), ("i", [count], None)], [], [([count], t)], line)
    index = [r.randrange(rows) for _ in range(count)]
    line = f"  %i = tensor.constant {{value = dense {index} : tensor<{count} x i32>}} : tensor<{count} x i32>\n"
    attrs = ["axis = 0"] + r.choice(([], ["alpha = 0.3"]))
    return module(op, [("x", [rows, columns], t), ("i", [count], None), ("s", [count, columns], t)], attrs, [([rows, columns], t)], line)


def single_op(r, dims):
    kind, t = r.choice(KINDS), r.choice(FLOATS)
    axis = r.randrange(len(dims))
    if kind == "function":
        return elementwise(r, dims, 1, r.choice(FUNCTIONS), t)
    if kind == "pair":
        return elementwise(r, dims, 2, r.choice(PAIRS), t)
    if kind == "clip":
        return elementwise(r, dims, 3, "clip", r.choice((t, "i32")))
    if kind == "wide":
        return wide(r, dims)
    if kind in ("attention", "conv2d", "scaled_matmul"):
        return {"attention": attention, "conv2d": conv2d, "scaled_matmul": scaled_matmul}[kind](r, t)
    if kind == "var":
        axes = sorted(r.sample(range(len(dims)), r.randrange(1, len(dims) + 1)))
        attrs = [f"axis = {axes}", f"correction = {r.choice((0, 1))}"]
        return module("var", [("x", dims, t)], attrs, [([1 if i in axes else d for i, d in enumerate(dims)], t)])
    if kind == "cross_entropy":
        return with_index(r, dims, "cross_entropy", t)
    if kind == "add_at":
        return with_index(r, dims, "index_add", t)
    if kind == "sort":
        rows = [max(1, 65536 // 64 // 16), 64]
        return module(r.choice(("sort",)), [("x", rows, t)], ["axis = 1", f"descending = {r.choice(('true', 'false'))}"], [(rows, t)])
    if kind == "scan":
        return module("cumsum", [("x", dims, t)], [f"axis = {axis}", f"reverse = {r.choice(('true', 'false'))}"], [(dims, t)])
    if kind == "norm":
        return module("layer_norm", [("x", dims, t), ("g", [dims[axis]], t), ("b", [dims[axis]], t)], [f"axis = {axis}"], [(dims, t)])
    return module("quantize", [("x", dims, t), ("s", [1] * len(dims), "f32")], [], [(dims, r.choice(("i8", "u8")))])
