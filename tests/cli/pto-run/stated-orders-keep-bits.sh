# Sums and products whose order is stated have the bits of that order on each pipeline: trees of n sums, and ascending
# ones along dims that are not neighbours, along one long row alone and along rows that fit no tile; products of
# matrices, with one rounding for each term. numpy adds the same terms in that order and in others, which come to other
# bits.
. "$TEST_ROOT/tests/shell.sh"
cat >sums.py <<'END'
"""Writes numbers.ptir, symbols.ptir, some.ptir, of which each has one function, and cases.npz: inputs x0, .. and outputs numbers0, .. and symbols0, .."""
import sys

import numpy as np

f32 = np.float32
RNG = np.random.default_rng(7)
# op, order, type, extents, axes, whether dims are kept
CASES = [
    ("reduce_sum", "tree(8)", "f32", (7, 300), [1], True),
    ("reduce_sum", "tree(256)", "f32", (3, 5, 1000), [-1], False),
    ("reduce_sum", "tree(2)", "f32", (300, 11), [0], True),
    ("reduce_sum", "tree(4)", "f32", (5, 7, 60), [0, 2], True),
    ("reduce_sum", "tree(16)", "f32", (3, 50, 4), [1], False),
    ("reduce_sum", "tree(64)", "f32", (1, 3001), [1], True),
    ("reduce_sum", "tree(32)", "f32", (6, 3), [1], True),
    ("reduce_sum", "tree(128)", "f16", (9, 700), [1], True),
    ("reduce_sum", "tree(8)", "f32", (64, 3), [0, 1], False),
    ("reduce_mean", "tree(4)", "f32", (8, 129), [1], True),
    ("reduce_prod", "tree(8)", "f32", (5, 90), [1], True),
    ("reduce_sum", "tree(8)", "i32", (5, 90), [1], True),
    ("reduce_sum", "ascending", "f32", (4, 7, 64), [0, 2], True),
    ("reduce_sum", "ascending", "f32", (3, 4, 1, 5, 6), [1, 4], False),
    ("reduce_sum", "ascending", "f32", (1, 9001), [1], True),
    ("reduce_sum", "ascending", "f32", (1000,), [0], False),
    ("reduce_sum", "ascending", "f32", (3, 9, 70), [1, 2], True),
    ("reduce_sum", "ascending", "f16", (12, 700), [1], True),
    ("reduce_mean", "ascending", "f32", (2, 90, 3), [0, 2], True),
    ("reduce_prod", "ascending", "f32", (2, 90, 3), [0, 2], True),
]
# of products of matrices: order, type, extents of a and b, attributes
PRODUCTS = [
    ("tree(8)", "f32", (5, 67), (67, 3), ""),
    ("tree(256)", "f32", (7, 300), (300, 2), ""),
    ("tree(16)", "f16", (4, 129), (129, 6), "out = f32"),
    ("tree(4)", "f16", (33, 3), (5, 33), "transpose_a = true, transpose_b = true"),
    ("tree(2)", "f32", (2, 1, 3, 11), (5, 11, 4), 'activation = "relu"'),
    ("ascending", "f32", (3, 70), (70, 5), ""),
]
TYPES = {"f32": f32, "f16": np.float16, "i32": np.int32}


def terms_of(x, axes):
    """Terms along dim 0, in row-major order of the reduced dims."""
    axes = [a % x.ndim for a in axes]
    rest = [d for d in range(x.ndim) if d not in axes]
    return x.transpose(axes + rest).reshape(int(np.prod([x.shape[a] for a in axes])), -1)


def chain(t, op, start):
    for row in t:
        start = op(start, row)
    return start


def added(t, order, op, unit):
    """In f32, or in the type of integers."""
    if order == "ascending":
        return chain(t, op, np.full(t.shape[1], unit, t.dtype))
    n = int(order[5:-1])
    sums = np.full((n, t.shape[1]), unit, t.dtype)
    filled = np.concatenate([t, np.full((-len(t) % n, t.shape[1]), unit, t.dtype)])
    sums = chain(filled.reshape(-1, n, t.shape[1]), op, sums)
    while n > 1:
        n //= 2
        sums = op(sums[:n], sums[n:])
    return sums[0]


def chain_of_products(a, b):
    """Each term is added with one rounding: products of f32 are exact in f64, and so is nearly every sum."""
    y = np.zeros(np.matmul(a, b).shape, f32)
    for k in range(a.shape[-1]):
        y = (a[..., k:k + 1].astype(np.float64) * b[..., k:k + 1, :].astype(np.float64) + y).astype(f32)
    return y


def multiplied(a, b, order):
    if order == "ascending":
        return chain_of_products(a, b)
    n = int(order[5:-1])
    sums = [chain_of_products(a[..., j::n], b[..., j::n, :]) for j in range(n)]
    while len(sums) > 1:
        sums = [p + q for p, q in zip(sums, sums[len(sums) // 2:])]
    return sums[0]


def product(i, order, dtype, a, b, words):
    """Arrays, and the text of parameters, the op and its type."""
    x, w = values("matmul", dtype, a), values("matmul", dtype, b)
    turned = [np.swapaxes(v, -1, -2) if f"transpose_{o} = true" in words else v for v, o in ((x, "a"), (w, "b"))]
    wide = [v.astype(f32) for v in turned]
    y = multiplied(*wide, order)
    if y.size > 1 and any(np.array_equal(y, multiplied(*wide, o)) for o in ("ascending", "tree(2)", "tree(8)", "tree(64)") if o != order):
        sys.exit(f"product {i}: other orders would go unnoticed")
    y = np.maximum(y, 0) if "relu" in words else y
    out = "f32" if "out" in words else dtype
    arrays.update({f"x{i}": x, f"w{i}": w, f"numbers{i}": y.astype(TYPES[out])})
    words = ", ".join([f'order = "{order}"'] + ([words] if words else []))
    return f"%x{i}: {kind(a, dtype)}, %w{i}: {kind(b, dtype)}", f"  %y{i} = tensor.matmul %x{i}, %w{i} {{{words}}} : {kind(y.shape, out)}", kind(y.shape, out)


def values(op, dtype, shape):
    if dtype == "i32":
        return RNG.integers(-(2**31), 2**31, shape, dtype=np.int32)
    if op == "reduce_prod":
        return RNG.uniform(0.9, 1.1, shape).astype(f32)
    return (RNG.choice([-1, 1], shape) * np.ldexp(RNG.uniform(1, 2, shape), RNG.integers(-12, 12, shape))).astype(TYPES[dtype])


def kind(extents, dtype):
    return f"tensor<{''.join(f'{n} x ' for n in extents)}{dtype}>"


def left_of(extents, axes, keep):
    reduced = [a % len(extents) for a in axes]
    return [1 if d in reduced else n for d, n in enumerate(extents) if keep or d not in reduced]


def case(i, extents, op, order, dtype, axes, keep):
    left = left_of(extents, axes, keep)
    words = f"axis = {axes}, " + ("" if keep else "keepdim = false, ")
    return f"%x{i}: {kind(extents, dtype)}", f"  %y{i} = tensor.{op} %x{i} {{{words}order = \"{order}\"}} : {kind(left, dtype)}", kind(left, dtype)


def function(name, symbols, chosen):
    parts = []
    for i in chosen:
        op, order, dtype, shape, axes, keep = CASES[i]
        extents = [f"${'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i]}{d}" if symbols and n != 1 else n for d, n in enumerate(shape)]
        parts.append(case(i, extents, op, order, dtype, axes, keep))
    names = ", ".join(f"%y{i}" for i in chosen)
    return (f"func @{name}({', '.join(p[0] for p in parts)}) -> ({', '.join(p[2] for p in parts)}) {{\n"
            + "\n".join(p[1] for p in parts) + f"\n  return {names}\n}}\n")


arrays = {}
for i, (op, order, dtype, shape, axes, keep) in enumerate(CASES):
    x = values(op, dtype, shape)
    wide = x if dtype == "i32" else x.astype(f32)
    function_of_two, unit = (np.multiply, 1) if op == "reduce_prod" else (np.add, 0)
    terms = terms_of(wide, axes)
    y = added(terms, order, function_of_two, unit)
    others = [added(terms, o, function_of_two, unit) for o in ("ascending", "tree(2)", "tree(8)", "tree(64)") if o != order]
    others.append(added(terms[::-1], order, function_of_two, unit))
    if dtype != "i32" and len(terms) > 8 and sum(np.array_equal(y, o) for o in others) > (y.size == 1):
        sys.exit(f"case {i}: other orders would go unnoticed")
    is_mean = op == "reduce_mean"
    arrays[f"x{i}"] = x
    # Means are products with 1 / n, and with symbols quotients.
    for entry, mean in ("numbers", y * f32(1 / len(terms)) if is_mean else y), ("symbols", y / f32(len(terms)) if is_mean else y):
        arrays[f"{entry}{i}"] = mean.astype(TYPES[dtype]).reshape(left_of(shape, axes, keep))
first = len(CASES)
parts = [product(first + i, *p) for i, p in enumerate(PRODUCTS)]
results = ", ".join(f"%y{first + i}" for i in range(len(parts)))
open("products.ptir", "w").write(f"func @products({', '.join(p[0] for p in parts)}) -> ({', '.join(p[2] for p in parts)}) {{\n"
                                 + "\n".join(p[1] for p in parts) + f"\n  return {results}\n}}\n")
np.savez("cases.npz", **arrays)
some = [i for i, c in enumerate(CASES) if c[3] in ((7, 300), (5, 7, 60), (4, 7, 64), (1, 9001), (12, 700))]  # compiling takes a while
for entry, symbols, chosen in ("numbers", False, range(len(CASES))), ("symbols", True, range(len(CASES))), ("some", False, some):
    open(entry + ".ptir", "w").write(function(entry, symbols, chosen))
print(*range(len(CASES)), "/", *some, "/", *range(first, first + len(parts)))
END
cases=$(/usr/bin/python3 sums.py) || fail "$cases"

products=${cases##*/} cases=${cases%/*}
# compare ENTRY OUTPUTS CASES OPTIONS..: all outputs are those of numpy, bit for bit.
compare() {
  entry=$1 outputs=$2 chosen=$3
  shift 3
  for i in $chosen; do
    set -- "$@" --in "x$i=cases.npz:x$i" --expect "y$i=cases.npz:$outputs$i"
    [ "$entry" != products ] || set -- "$@" --in "w$i=cases.npz:w$i"
  done
  exits 0 pto-run "$entry.ptir" "$@" >out.txt 2>text || complain "$entry: other bits than numpy's"
}
compare numbers numbers "${cases%/*}" --pipeline=default.yaml
compare symbols symbols "${cases%/*}" --pipeline=default.yaml
compare some numbers "${cases#*/}" --pipeline=native.yaml
compare products numbers "$products" --pipeline=default.yaml
compare products numbers "$products" --pipeline=native.yaml
