"""Sums, products and scalars of 64 bits, as forms: what the machine computes in halves, with carries between them."""

import numpy as np

from form import Form, as_given

SIZES = [dict(A=3, B=5), dict(A=1, B=1), dict(A=2, B=0), dict(A=4, B=700)]


def edges(name, dtype, shape, rng):
    """Numbers whose halves are all bits or none, or that are next to such ones, often; so that carries go on and on."""
    low = rng.integers(0, 2**32, shape, dtype=np.uint64)
    near = (rng.choice(np.array([0, 2**32 - 1, 2**31, 1], np.uint64), shape) + rng.integers(0, 3, shape).astype(np.uint64)) & np.uint64(2**32 - 1)
    high = rng.choice(np.array([0, 2**32 - 1, 2**31, 2**31 - 1], np.uint64), shape)
    bits = np.where(rng.integers(0, 2, shape) == 0, low, near) | high << np.uint64(32)
    return as_given(dtype, bits.astype(np.uint64))


def wide_sums():
    for dtype in ("i64", "u64"):
        kind, row, column = f"<A x B x {dtype}>", f"<A x 1 x {dtype}>", f"<1 x B x {dtype}>"
        yield Form(f"sum-{dtype}", {"x": kind}, {"y": row, "z": column, "v": f"<1 x 1 x {dtype}>"},
                   f"""%y = tensor.reduce_sum %x {{axis = 1}} : {row}
                       %z = tensor.reduce_sum %x {{axis = 0}} : {column}
                       %v = tensor.reduce_sum %x {{axis = [0, 1]}} : <1 x 1 x {dtype}>""",
                   lambda x: (x.sum(1, keepdims=True, dtype=np.uint64), x.sum(0, keepdims=True, dtype=np.uint64), x.sum(keepdims=True, dtype=np.uint64)), SIZES, prepare=edges)
        for exclusive in (False, True):
            for reverse in (False, True):
                def want(x, exclusive=exclusive, reverse=reverse):
                    given = x[:, ::-1] if reverse else x
                    sums = np.cumsum(given, 1, dtype=np.uint64) - (given if exclusive else np.uint64(0))
                    return sums[:, ::-1] if reverse else sums
                how = f"exclusive = {str(exclusive).lower()}, reverse = {str(reverse).lower()}"
                yield Form(f"cumsum-{dtype}-{exclusive}-{reverse}", {"x": kind}, {"y": kind}, f"%y = tensor.cumsum %x {{axis = 1, {how}}} : {kind}", want, SIZES, prepare=edges)


def wide_scalars():
    for dtype in ("i64", "u64"):
        kind = f"<A x B x {dtype}>"
        yield Form(f"full-{dtype}", {"s": dtype, "x": kind}, {"y": kind, "z": kind},
                   f"%y = tensor.full %s : {kind}\n%z = tensor.add %x, %s : {kind}",
                   lambda s, x: (np.broadcast_to(s, x.shape), x + s), [dict(A=a, B=b) for a, b in ((3, 5), (1, 1), (2, 0), (5, 33), (1, 16), (7, 2), (2, 9))], prepare=edges)


def odd(name, dtype, shape, rng):
    """Products of these are rarely 0."""
    bits = rng.integers(0, 2**64, shape, dtype=np.uint64)
    return as_given(dtype, np.where(rng.integers(0, 40, shape) == 0, bits, bits | np.uint64(1)).astype(np.uint64))


def wide_products():
    sizes = [dict(A=3, B=5), dict(A=1, B=1), dict(A=2, B=0), dict(A=0, B=3), dict(A=2, B=130), dict(A=7, B=64)]
    for dtype in ("i64", "u64"):
        kind, row, column = f"<A x B x {dtype}>", f"<A x 1 x {dtype}>", f"<B x {dtype}>"
        product = lambda x, axis: np.multiply.reduce(x, axis=axis, dtype=np.uint64)  # noqa: E731
        yield Form(f"prod-{dtype}", {"x": kind}, {"y": row, "z": column, "v": f"<{dtype}>"},
                   f"""%y = tensor.reduce_prod %x {{axis = 1}} : {row}
                       %z = tensor.reduce_prod %x {{axis = 0, keepdim = false}} : {column}
                       %v = tensor.reduce_prod %x {{axis = [0, 1], keepdim = false}} : <{dtype}>""",
                   lambda x: (product(x, 1)[:, None], product(x, 0), product(x, (0, 1))), sizes, prepare=odd)
        for exclusive in (False, True):
            for reverse in (False, True):
                def want(x, exclusive=exclusive, reverse=reverse):
                    given = x[:, ::-1] if reverse else x
                    one = np.ones((x.shape[0], 1), np.uint64)
                    all_ = np.cumprod(np.concatenate([one, given], 1), 1, dtype=np.uint64)
                    all_ = all_[:, :-1] if exclusive else all_[:, 1:]
                    return all_[:, ::-1] if reverse else all_
                how = f"exclusive = {str(exclusive).lower()}, reverse = {str(reverse).lower()}"
                yield Form(f"cumprod-{dtype}-{exclusive}-{reverse}", {"x": kind}, {"y": kind}, f"%y = tensor.cumprod %x {{axis = 1, {how}}} : {kind}", want, sizes, prepare=odd)


def wide_products_at():
    """Some places several times."""
    for dtype in ("i64", "u64"):
        kind = f"<4 x A x {dtype}>"

        def want(x, z):
            y = x.copy()
            for k in range(z.shape[0]):
                y[3 * k % 4] *= z[k]
            return y
        yield Form(f"scatter-{dtype}-mul", {"x": kind, "z": f"<B x A x {dtype}>"}, {"y": kind},
                   f"""%i = tensor.iota {{axis = 0}} : <B x A x i32>
                       %c = tensor.constant {{value = 3}} : <i32>
                       %t = tensor.mul %i, %c : <B x A x i32>
                       %k = tensor.bitwise_and %t, %c : <B x A x i32>
                       %y = tensor.scatter %x, %k, %z {{axis = 0, reduce = "mul"}} : {kind}""",
                   want, [dict(A=5, B=3), dict(A=1, B=9), dict(A=3, B=0), dict(A=0, B=2)], prepare=odd)
