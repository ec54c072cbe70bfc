"""Forms of ops that go by indices, and of scans: single ones for forms.py. Indices are legal, and some places are named several times."""
import numpy as np

# Extents of x, and of indices: K of a list, L of an index for each element. Beyond a tile, and primes.
SIZES = [dict(A=3, N=11, B=37, K=29, L=13), dict(A=1, N=1, B=1, K=1, L=1), dict(A=2, N=5, B=3, K=0, L=0), dict(A=0, N=3, B=2, K=4, L=2), dict(A=2, N=601, B=7, K=307, L=3),
         dict(A=5, N=3, B=1031, K=17, L=4)]
X = ("A", "N", "B")


def put_slices(axis, add):
    def want(x, at, v):
        y = np.array(x)
        rows, parts = np.moveaxis(y, axis, 0), np.moveaxis(v, axis, 0)
        for i, k in enumerate(at):
            rows[k] = rows[k] + add * parts[i] if add else parts[i]
        return y
    return want


def put_elements(axis, way):
    def want(x, at, v):
        y = np.array(x)
        wide = np.broadcast_to(v, at.shape)
        for place in np.ndindex(*at.shape):
            to = (*place[:axis], int(at[place]), *place[axis + 1:])
            y[to] = wide[place] if way == "none" else y[to] + wide[place] if way == "add" else y[to] * wide[place]
        return y
    return want


def put_lists(x, v, i, j):
    y = np.array(x)
    for k in range(len(i)):
        y[i[k], j[k]] += v[k]
    return y


def scanned(fn, axis, exclusive, reverse):
    def want(x):
        v = np.flip(x, axis) if reverse else x
        one = np.full([1 if d == axis else n for d, n in enumerate(v.shape)], int(fn is np.multiply), v.dtype)
        v = fn.accumulate(np.concatenate([one, v], axis), axis=axis, dtype=v.dtype)
        v = np.take(v, range(v.shape[axis] - 1) if exclusive else range(1, v.shape[axis]), axis)
        return np.flip(v, axis) if reverse else v
    return want


def legal(form, **dims):
    """Inputs that hold indices, each with the dim that they are for; of nothing there is no legal one."""
    form.legal = dims
    form.sizes = [s for s in form.sizes if all(s[d] for d in dims.values())]
    return form


def type_of(dims, dtype):
    return "<" + " x ".join((*dims, dtype)) + ">"


def index_ops(Form):
    for dtype in ("f32", "f16", "i8", "i32", "bool"):
        for axis, n in enumerate(X):
            if dtype not in ("f32", "i8") and axis != 1:
                continue
            kind = ("i32", "i64", "i16")[axis]
            x, at = type_of(X, dtype), type_of("K", kind)
            taken, each = (type_of([d if i != axis else e for i, d in enumerate(X)], dtype) for e in "KL")
            index = type_of([d if i != axis else "L" for i, d in enumerate(X)], kind)
            attribute = f"{{axis = {axis}}}"
            yield legal(Form(f"take-{axis}-{dtype}", {"x": x, "at": at}, {"y": taken}, f"%y = tensor.take %x, %at {attribute} : {taken}",
                             lambda x, at, a=axis: np.take(x, at, a) if x.shape[a] else np.zeros(x.shape[:a] + at.shape + x.shape[a + 1:]), SIZES, fill="special"), at=n)
            yield legal(Form(f"scatter_update-{axis}-{dtype}", {"x": x, "at": at, "v": taken}, {"y": x}, f"%y = tensor.scatter_update %x, %at, %v {attribute} : {x}",
                             put_slices(axis, 0), SIZES, fill="special"), at=n)
            yield legal(Form(f"gather-{axis}-{dtype}", {"x": x, "at": index}, {"y": each}, f"%y = tensor.gather %x, %at {attribute} : {each}",
                             lambda x, at, a=axis: np.take_along_axis(x, at, a), SIZES[:4], fill="special"), at=n)
            yield legal(Form(f"scatter-{axis}-{dtype}", {"x": x, "at": index, "v": each}, {"y": x}, f"%y = tensor.scatter %x, %at, %v {attribute} : {x}",
                             put_elements(axis, "none"), SIZES[:4], fill="special"), at=n)
            if dtype == "bool":
                continue
            near = {"f32": 1e-4, "f16": 4e-3}.get(dtype, 0)
            if dtype != "i8":
                yield legal(Form(f"index_add-{axis}-{dtype}", {"x": x, "at": at, "v": taken}, {"y": x}, f"%y = tensor.index_add %x, %at, %v {{axis = {axis}, alpha = 3}} : {x}",
                                 put_slices(axis, 3), SIZES, near * 10), at=n)
                yield legal(Form(f"scatter-add-{axis}-{dtype}", {"x": x, "at": index, "v": each}, {"y": x}, f'%y = tensor.scatter %x, %at, %v {{axis = {axis}, reduce = "add"}} : {x}',
                                 put_elements(axis, "add"), SIZES[:4], near), at=n)
            for number, (op, fn) in enumerate((("cumsum", np.add), ("cumprod", np.multiply))):
                exclusive, reverse = (axis + number) % 2 == 1, axis == 1
                if dtype == "f16" and op == "cumprod" or dtype == "i8" and op == "cumprod":
                    continue
                words = f"{{axis = {axis}, exclusive = {str(exclusive).lower()}, reverse = {str(reverse).lower()}}}"
                yield Form(f"{op}-{axis}-{dtype}", {"x": x}, {"y": x}, f"%y = tensor.{op} %x {words} : {x}", scanned(fn, axis, exclusive, reverse), SIZES[:4], near * 4)
    # Rows that fit on chip: one instruction goes by all indices.
    rows = [*SIZES[:4], dict(A=2, N=3, B=41, L=307), dict(A=2, N=1, B=1, L=5), dict(A=1, N=2, B=70, L=1)]
    for dtype in ("f32", "f16", "i16", "u32", "bf16"):
        x, index, each = type_of(X, dtype), "<A x N x L x i32>", type_of("ANL", dtype)
        yield legal(Form(f"gather-rows-{dtype}", {"x": x, "at": index}, {"y": each}, f"%y = tensor.gather %x, %at {{axis = -1}} : {each}",
                         lambda x, at: np.take_along_axis(x, at, 2), rows, fill="special"), at="B")
        yield legal(Form(f"scatter-rows-{dtype}", {"x": x, "at": index, "v": type_of("NL", dtype)}, {"y": x}, f"%y = tensor.scatter %x, %at, %v {{axis = 2}} : {x}",
                         put_elements(2, "none"), rows, fill="special"), at="B")
    yield legal(Form("scatter-mul-by-a-number", {"x": "<N x B x f32>", "at": "<L x B x i32>"}, {"y": "<N x B x f32>"}, """%v = tensor.constant {value = 2.0} : <f32>
                     %y = tensor.scatter %x, %at, %v {axis = 0, reduce = "mul"} : <N x B x f32>""", lambda x, at: put_elements(0, "mul")(x, at, np.float64(2)),
                     [{k: v for k, v in s.items() if k in "NBL"} for s in SIZES[:4]], 1e-6), at="N")
    yield legal(Form("index_put-accumulate", {"x": "<A x N x B x f32>", "v": "<K x B x f32>", "i": "<K x i32>", "j": "<K x i32>"}, {"y": "<A x N x B x f32>"},
                     "%y = tensor.index_put %x, %v, %i, %j {accumulate = true} : <A x N x B x f32>", put_lists, SIZES[:3], 1e-5), i="A", j="N")
    # What is computed is put, and what was put is computed with; the table and the index are results too.
    yield legal(Form("embedding-in-a-program", {"x": "<N x B x f32>", "at": "<K x i32>", "w": "<B x f32>"}, {"y": "<K x B x f32>", "z": "<N x B x f32>"},
                     """%s = tensor.mul %x, %w : <N x B x f32>
                        %t = tensor.take %s, %at {axis = 0} : <K x B x f32>
                        %y = tensor.exp %t : <K x B x f32>
                        %z = tensor.scatter_update %s, %at, %y {axis = 0} : <N x B x f32>""",
                     lambda x, at, w: (np.exp((x * w)[at]), put_slices(0, 0)(x * w, at, np.exp((x * w)[at]))),
                     [{k: v for k, v in s.items() if k in "NBK"} for s in SIZES], 2e-5, fill="positive"), at="N")
