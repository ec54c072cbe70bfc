"""Loops whose iterations are independent: each reads and replaces a window of a tensor of its own, from the first one on or from the
last one on, and computes what is drawn of it."""
from draw_moves import moved
from program import LAST, alike, carried_of, inner, results_of, run
from quantity import Reject


def drawn_axis(f, dims):
    """An axis with room for two windows, how wide they are, and how many there are as text and number."""
    r = f.r
    fit = [d for d, n in enumerate(f.shape(dims)) if n >= 2]
    if not fit:
        raise Reject
    axis = r.choice(fit)
    extent = f.shape(dims)[axis]
    width = r.choice([w for w in (1, 1, 2, 3) if 2 * w <= extent])
    stride = width + r.randrange(2)
    most = (extent - width) // stride + 1
    count = min(most, r.choice((2, 3, 5)))
    if width == stride == 1 and extent <= 8 and r.random() < 0.5:
        return axis, width, stride, extent, f.p.token(dims[axis])
    return axis, width, stride, count, str(count)


def window_of(axis, start, width):
    return lambda v: v[(slice(None),) * axis + (slice(start, start + width),)]


def put_into(axis, start, width):
    def put(base, x):
        made = base.copy()
        made[(slice(None),) * axis + (slice(start, start + width),)] = x
        return made
    return put


def parallel(f, rows, depth=1):
    r, p = f.r, f.p
    carried = carried_of(f)[0]
    dims, dtype = f.of(carried)
    axis, width, stride, count, count_text = drawn_axis(f, dims)
    is_backwards = r.random() < 0.4
    arg, result, view, put, index = (p.fresh(stem) for stem in ("a", "r", "v", "w", "i"))
    start_of = (lambda i: stride * (count - 1 - i)) if is_backwards else (lambda i: stride * i)
    offset = f"{stride * (count - 1)} - {stride} * %{index}" if is_backwards else f"{stride} * %{index}"
    if is_backwards and count_text.startswith("$"):
        offset = f"{count_text} - 1 - %{index}"
    at = "[" + ", ".join(offset if d == axis else "0" for d in range(len(dims))) + "]"
    small = tuple(str(width) if d == axis else n for d, n in enumerate(dims))
    f.types[arg] = f.types[result] = f.types[put] = (dims, dtype)
    f.types[view] = (small, dtype)
    f.env[view] = moved(window_of(axis, start_of(0), width))(f.env[carried])
    outside = list(f.scope)
    f.scope.append(view)
    lines, steps, scope = inner(f, rows, depth, r.randrange(1, 4))
    new = alike(f, scope, view)
    f.scope = [n for n in f.scope if n != view]
    assert set(outside) <= set(f.scope)

    def step(env):
        whole = env[carried]
        for i in range(count):
            env[view] = moved(window_of(axis, start_of(i), width))(whole)
            run(steps, env)
            whole = moved(put_into(axis, start_of(i), width))(whole, env[new])
        env[result] = whole

    step(f.env)
    head = f"%{result} = for %{index} parallel to {count_text} carry(%{arg} = %{carried}) {{"
    first = f"%{view} = tensor.view %{arg}{at} : {p.type(small, dtype)}"
    last = f"%{put} = tensor.assemble %{new}, %{arg}{at} : {p.type(dims, dtype)}"
    results_of(f, [result], [head, first, *lines, last, f"yield %{put}", f"}} : {p.type(dims, dtype)}"], step)


LAST.append(parallel)
