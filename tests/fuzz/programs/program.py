"""A random program: its text, and what its outputs are.

Each op is drawn with the numbers at hand, so that it has operands of its domain: DRAWERS of the draw_*.py files, one for each op of the
table. Loops draw their body at their first turn and then run it; a turn that an op rejects takes the loop out again. Functions
are drawn where they are called. All follows from the seed."""
import random
import re

import numpy as np

from quantity import FLOATS, LARGEST, SMALL_FLOATS, Quantity, Reject, is_float, numpy_type, rounded

DRAWERS = {}
LAST = []  # of functions like `loop`, one of which may draw the end of a program
MOST_ELEMENTS = 3000


def draws(*ops):
    """Registers a drawer: function(f, op, dtype) draws the op, with `dtype` where the table lists its element types."""
    def register(function):
        for op in ops:
            DRAWERS["tensor." + op] = function
        return function
    return register


class Program:
    def __init__(self, seed):
        self.seed, self.r = seed, random.Random(seed)
        self.rng = np.random.default_rng(seed)
        self.serial, self.functions, self.rows = 0, [], []
        r = self.r
        self.is_symbolic = r.random() < 0.5
        self.sizes = {n: r.choice((1, 2, 3, 4, 5, 8, 16, 17, 33, 64)) for n in "ABCD"}
        if r.random() < 0.04:
            self.sizes[r.choice("ABCD")] = 0
        self.constants = random.Random(f"constants {seed}").choice((0, 0, 0.3, 0.7, 1))

    def size(self, token):
        return eval(token, {}, self.sizes)

    def shape(self, dims):
        return tuple(self.size(d) for d in dims)

    def fresh(self, stem):
        self.serial += 1
        return f"{stem}{self.serial}"

    def token(self, dim):
        return re.sub(r"\b[A-D]\b", r"$\g<0>", dim) if self.is_symbolic else str(self.size(dim))

    def type(self, dims, dtype):
        return dtype if dims is None else "tensor<" + " x ".join((*map(self.token, dims), dtype)) + ">"

    def text(self):
        return "\n".join(f.text() for f in reversed(self.functions))

    def symbols(self):
        return {n: k for n, k in self.sizes.items() if self.is_symbolic and f"${n}" in self.functions[0].text()}


class Function:
    """`env` has the numbers of every value, at the last turn of each loop. A value is a name; dims None: a scalar."""

    def __init__(self, program, name="f", caller=None):
        self.p, self.r, self.rng, self.name, self.caller = program, program.r, program.rng, name, caller
        self.params, self.types, self.env, self.outputs = [], {}, {}, []
        self.lines, self.steps, self.scope, self.depth = [], [], [], 0
        self.arguments, self.aliases = [], {}  # of outputs the inputs that they replace
        program.functions.append(self)

    # ---- values ----

    def shape(self, dims):
        return self.p.shape(dims)

    def dims(self, least=0, most=5, over=MOST_ELEMENTS):
        """Dims that are at hand, or others."""
        r = self.r
        if r.random() < 0.4:
            known = [self.types[n][0] for n in self.scope if self.types[n][0] is not None and least <= len(self.types[n][0]) <= most]
            if known:
                return r.choice(known)
        while True:
            rank = min(most, max(least, r.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 5))))
            dims = tuple(r.choice(("A", "B", "C", "D", "A", "B", "1", "2", "3", "7")) for _ in range(rank))
            if np.prod(self.shape(dims), dtype=np.int64) <= over:
                return dims

    def numbers(self, dtype, dims, low, high):
        shape = self.shape(dims) if dims is not None else ()
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(np.bool_)
        if dtype == "f8e8m0":
            return 2.0 ** self.rng.integers(-3, 4, shape)
        if is_float(dtype):
            grain = 2 if dtype == "f8e5m2" else 4 if dtype in SMALL_FLOATS else 8
            low, high = int(np.ceil(max(low, -4) * grain)), int(np.floor(min(high, 4) * grain))
            return rounded(dtype, self.rng.integers(low, high, shape, endpoint=True) / grain)
        limits = np.iinfo(numpy_type(dtype))
        return self.rng.integers(max(limits.min, low), min(limits.max, high), shape, endpoint=True).astype(numpy_type(dtype))

    def param(self, dtype, dims, low=-9, high=9):
        """A new input, or in a called function a parameter for what the caller has of that kind."""
        name = self.p.fresh("x")
        if self.caller is None:
            self.env[name] = Quantity(self.numbers(dtype, dims, low, high))
        else:
            given = self.caller.pick(dtype, dims, low, high)
            self.arguments.append(given)
            self.env[name] = self.caller.env[given]
        self.params.append((name, dims, dtype))
        self.types[name] = (dims, dtype)
        return name

    def indices(self, dims, below, dtype=None):
        """An input of numbers of 0 .. below - 1."""
        dtype, name = dtype or self.r.choice(("i32", "i32", "i64", "i16")), self.p.fresh("at")
        if self.caller is not None:
            raise Reject
        self.env[name] = Quantity(self.rng.integers(0, below, self.shape(dims)).astype(numpy_type(dtype)))
        self.params.append((name, dims, dtype))
        self.types[name] = (dims, dtype)
        return name

    def fits(self, name, dtype, dims, low, high, exact):
        its_dims, its_dtype = self.types[name]
        if its_dtype != dtype or its_dims is None or (dims is not None and its_dims != dims):
            return False
        q = self.env[name]
        if q.e is not None and (exact or dtype not in FLOATS):
            return False
        if dtype == "bool" or q.v.size == 0:
            return True
        return np.min(q.v - q.bound) >= low and np.max(q.v + q.bound) <= high

    def pick(self, dtype, dims=None, low=None, high=None, exact=False, rank=(0, 5)):
        """A value of the type with all numbers in low..high: of those at hand, or a new one. `dims` None: any, of a rank in `rank`."""
        low = low if low is not None else -LARGEST if is_float(dtype) else -(2**63)
        high = high if high is not None else LARGEST if is_float(dtype) else 2**64
        fit = [n for n in self.scope if self.fits(n, dtype, dims, low, high, exact) and rank[0] <= len(self.types[n][0]) <= rank[1]]
        if fit and self.r.random() < 0.85:
            return self.r.choice(fit[-6:])
        if dims is None:
            dims = self.dims(*rank)
        name = self.param(dtype, dims, max(low, -9 if low < -9 else low), min(high, max(9, low)))
        self.scope.insert(0, name)
        return name

    def partner(self, name, dtype, low=None, high=None, exact=False, scalars=True):
        """An operand that broadcasts with the value: of the same dims, with some of 1, without leading ones, or a scalar."""
        dims, r = self.types[name][0], self.r
        if scalars and r.random() < 0.1 and self.caller is None and not self.depth:
            low = -3 if low is None else low
            return self.param(dtype, None, low, max(low, 3 if high is None else min(high, 3)))
        if r.random() < 0.5:
            dims = tuple(d if r.random() < 0.6 else "1" for d in dims)
            dims = dims[r.randrange(len(dims) + 1):] if r.random() < 0.4 else dims
        return self.pick(dtype, dims, low, high, exact)

    def joined(self, *names):
        """The dims that operands have together."""
        every = [self.types[n][0] or () for n in names]
        rank = max(map(len, every))
        made = []
        for axis in range(rank):
            here = {d[axis - rank + len(d)] for d in every if axis - rank + len(d) >= 0} - {"1"}
            if len(here) > 1:
                raise Reject
            made.append(here.pop() if here else "1")
        return tuple(made)

    def of(self, name):
        return self.types[name]

    # ---- ops ----

    def op(self, text, operands, results, function):
        """Adds `text`, in which %0, %1 are the operands, with `results` [(dims, dtype)]; `function` makes their quantities."""
        names = [self.p.fresh("v") for _ in results]
        if any(np.prod(self.shape(d), dtype=np.int64) > 4 * MOST_ELEMENTS for d, _ in results):
            raise Reject
        operands = list(operands)

        def step(env):
            with np.errstate(all="ignore"):
                q = function(*(env[n] for n in operands))
            for name, one in zip(names, q if isinstance(q, tuple) else (q,)):
                env[name] = one

        step(self.env)
        for (dims, dtype), name in zip(results, names):
            assert self.env[name].v.shape == self.shape(dims), (text, dims, self.env[name].v.shape)
            self.types[name] = (dims, dtype)
        body = re.sub(r"%(\d)", lambda m: "%" + operands[int(m[1])], text)
        types = ", ".join(self.p.type(*t) for t in results)
        self.lines.append(", ".join("%" + n for n in names) + f" = {body} : {types}")
        self.steps.append(step)
        self.scope += names
        return names[0] if len(names) == 1 else names

    def draw(self, op, dtype):
        """Whether the op came about; nothing else is left of one that did not."""
        before = self.here()
        try:
            DRAWERS[op](self, op.split(".", 1)[1], dtype)
            self.p.rows.append((op, dtype))
            return True
        except Reject:
            self.back_to(before)
            return False

    def here(self):
        return (len(self.lines), len(self.steps), list(self.scope), len(self.params), len(self.arguments), len(self.p.rows))

    def back_to(self, before):
        del self.lines[before[0]:], self.steps[before[1]:], self.params[before[3]:], self.arguments[before[4]:], self.p.rows[before[5]:]
        self.scope = before[2]

    # ---- text ----

    def finish(self, least_outputs=()):
        """The outputs: what nothing reads, some of it."""
        read = set(re.findall(r"%(\w+)", " ".join(line.split("=", 1)[-1] for line in self.lines)))
        made = [n for n in self.scope if n not in {p for p, _, _ in self.params} and self.types[n][0] is not None]
        ends = [n for n in made if n not in read]
        self.outputs = list(dict.fromkeys([*(n for n in least_outputs if n in made), *ends]))[:8] or made[-1:]
        if not self.outputs:
            raise Reject
        if self.p.is_symbolic:
            bound = {d for _, dims, _ in self.params for d in dims or ()}
            used = set(re.findall(r"\$([A-D])\b", "\n".join(self.lines) + " ".join(self.p.type(*self.types[n]) for n in self.outputs)
                                  + " ".join(self.p.type(dims, t) for _, dims, t in self.params)))
            for missing in sorted(used - bound):
                self.param("f32", (missing,))
        if self.caller is None:
            self.replace_inputs(random.Random(f"{self.p.seed} aliases"))

    def replace_inputs(self, r):
        """Of some programs outputs are made in the memory of inputs of their type."""
        free = [(n, (dims, t)) for n, dims, t in self.params if dims is not None and not self.mode(n)]
        for y in self.outputs if r.random() < 0.3 else ():
            fits = [n for n, kind in free if kind == self.types[y] and n not in self.aliases.values()]
            if fits:
                self.aliases[y] = r.choice(fits)

    def named(self, output):
        """What the output is called outside."""
        return self.aliases.get(output, output)

    def mode(self, name):
        """Of some programs many inputs are constants, of which pto.hoist-const makes a function of its own."""
        is_constant = self.caller is None and random.Random(f"{self.p.seed} {name}").random() < self.p.constants
        return "const " if is_constant else "inout " if name in self.aliases.values() else ""

    def text(self):
        params = ", ".join(f"{self.mode(n)}%{n}: {self.p.type(d, t)}" for n, d, t in self.params)
        results = ", ".join(self.p.type(*self.types[n]) + (f" aliases %{self.aliases[n]}" if n in self.aliases else "") for n in self.outputs)
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"func {'private ' if self.caller is not None else ''}@{self.name}({params}) -> ({results}) {{\n{body}  return {', '.join('%' + n for n in self.outputs)}\n}}\n"


# ---- control flow ----

def body(f, rows, count, depth):
    for _ in range(count):
        if depth < 2 and f.r.random() < 0.1:
            control(f, rows, depth + 1)
        else:
            f.draw(*f.r.choice(rows))


def control(f, rows, depth=1):
    before = f.here()
    try:
        f.r.choice((loop, loop, branch, called, repeated))(f, rows, depth)
    except Reject:
        f.back_to(before)


def inner(f, rows, depth, count):
    """The lines, steps and scope of a block that is drawn now."""
    kept = (f.lines, f.steps, list(f.scope))
    f.lines, f.steps, f.depth = [], [], f.depth + 1
    inputs = len(f.params)
    try:
        body(f, rows, count, depth)
        lines, steps, scope = f.lines, f.steps, f.scope
    finally:
        f.lines, f.steps, f.depth = kept[0], kept[1], f.depth - 1
        # Parameters stay in scope, what the block made does not.
        f.scope = [n for n, _, _ in f.params[inputs:] if n in f.scope] + kept[2]
    return lines, steps, scope


def run(steps, env):
    for step in steps:
        step(env)


def alike(f, scope, like):
    """The last value of the same type that has come about, or `like` itself."""
    same = [n for n in scope if f.types[n] == f.types[like] and (f.env[n].e is None or f.types[n][1] in FLOATS)]
    return f.r.choice(same[-3:])


def carried_of(f):
    fit = [n for n in f.scope if f.types[n][0] is not None and (f.env[n].e is None or f.types[n][1] in FLOATS)]
    if not fit:
        raise Reject
    return f.r.sample(fit, min(len(fit), f.r.choice((1, 1, 2))))


def results_of(f, names, line, step):
    """Adds a construct whose results have the types of `names`."""
    f.lines += line
    f.steps.append(step)
    f.scope += names


def loop(f, rows, depth):
    r, p = f.r, f.p
    carried = carried_of(f)
    args, results = [p.fresh("a") for _ in carried], [p.fresh("r") for _ in carried]
    index, start, stop, stride = p.fresh("i"), r.choice((0, 0, 1)), r.choice((0, 1, 2, 3)), r.choice((1, 1, 2))
    for a, rr, c in zip(args, results, carried):
        f.types[a] = f.types[rr] = f.types[c]
        f.env[a] = f.env[c]
    outside = list(f.scope)
    f.scope += args
    lines, steps, scope = inner(f, rows, depth, r.randrange(1, 4))
    yields = [alike(f, scope, a) for a in args]
    f.scope = [n for n in f.scope if n not in args]

    def step(env):
        values = [env[c] for c in carried]
        for _ in range(start, stop, stride):
            env.update(zip(args, values))
            run(steps, env)
            values = [env[y] for y in yields]
        env.update(zip(results, values))

    step(f.env)
    assert set(outside) <= set(f.scope)
    head = ", ".join(f"%{n}" for n in results) + f" = for %{index} = {start} to {stop} step {stride} carry("
    head += ", ".join(f"%{a} = %{c}" for a, c in zip(args, carried)) + ") {"
    types = ", ".join(p.type(*f.types[c]) for c in carried)
    results_of(f, results, [head, *lines, "yield " + ", ".join("%" + y for y in yields), "} : " + types], step)


def repeated(f, rows, depth):
    """As long as the element of a counter, which is carried too, is below a number."""
    r, p = f.r, f.p
    if f.caller is not None:
        raise Reject
    start, turns = r.randrange(-3, 4), r.choice((0, 1, 2, 3))
    counter = f.param("i32", ("1",), start, start)
    carried = carried_of(f)
    first, args, results = ([p.fresh(stem) for _ in (*carried, counter)] for stem in "abr")
    for a, rr, c in zip(args, results, (*carried, counter)):
        f.types[a] = f.types[rr] = f.types[c]
        f.env[a] = f.env[c]
    f.scope += args[:-1]
    lines, steps, scope = inner(f, rows, depth, r.randrange(0, 4))
    yields = [alike(f, scope, a) for a in args[:-1]]
    f.scope = [n for n in f.scope if n not in args]

    def step(env):
        values = [env[c] for c in carried]
        for _ in range(turns):
            env.update(zip(args, values))
            run(steps, env)
            values = [env[y] for y in yields]
        env.update(zip(results, (*values, Quantity(np.array([start + turns], np.int32)))))

    step(f.env)
    element, limit, goes_on, one, more = (p.fresh(stem) for stem in "elgok")
    head = ", ".join(f"%{n}" for n in results) + " = while carry(" + ", ".join(f"%{a} = %{c}" for a, c in zip(first, (*carried, counter))) + ") {"
    condition = [f"%{element} = scalar_of %{first[-1]}[0] : i32", f"%{limit} = constant {{value = {start + turns}}} : i32",
                 f"%{goes_on} = compare %{element} lt %{limit} : bool", f"yield %{goes_on}"]
    count = [f"%{one} = tensor.constant {{value = 1}} : tensor<1 x i32>", f"%{more} = tensor.add %{args[-1]}, %{one} : tensor<1 x i32>"]
    types = ", ".join(p.type(*f.types[c]) for c in (*carried, counter))
    results_of(f, results, [head, *condition, "} do (" + ", ".join("%" + b for b in args) + ") {", *lines, *count,
                            "yield " + ", ".join("%" + y for y in (*yields, more)), "} : " + types], step)


def condition_of_element(f):
    """Text of what is compared, and its number as a function of the environment."""
    element, read = f.p.fresh("e"), f.pick("i32", exact=True)
    dims = f.types[read][0]
    if 0 in f.shape(dims):
        raise Reject
    f.lines.append(f"%{element} = scalar_of %{read}[{', '.join('0' for _ in dims)}] : i32")
    return f"%{element}", lambda env: int(env[read].v[(0,) * len(dims)])


def branch(f, rows, depth):
    """On an element of an integer tensor, or on an extent."""
    r, p = f.r, f.p
    like = carried_of(f)[0]
    result, size = p.fresh("r"), r.choice("ABCD")
    subject, number_of = (p.token(size), lambda env: p.sizes[size]) if r.random() < 0.3 else condition_of_element(f)
    relation, holds = r.choice((("==", np.equal), ("<=", np.less_equal), (">", np.greater)))
    number, sides = r.randrange(-2, 3), []
    for _ in range(2):
        lines, steps, scope = inner(f, rows, depth, r.randrange(0, 3))
        sides.append((lines, steps, alike(f, scope, like)))
    f.types[result] = f.types[like]

    def step(env):
        _, steps, y = sides[0 if holds(number_of(env), number) else 1]
        run(steps, env)
        env[result] = env[y]

    step(f.env)
    lines = [f"%{result} = if {subject} {relation} {number} {{", *sides[0][0], f"yield %{sides[0][2]}", "} else {", *sides[1][0],
             f"yield %{sides[1][2]}", f"}} : {p.type(*f.types[like])}"]
    results_of(f, [result], lines, step)


def called(f, rows, depth):
    """A function that is drawn here, and called once or twice."""
    r, p = f.r, f.p
    if f.caller is not None or f.depth:
        raise Reject
    count = len(p.functions)
    g = Function(p, p.fresh("g"), f)
    body(g, rows, r.randrange(1, 5), depth + 1)
    try:
        g.finish()
        if not g.params:
            raise Reject
    except Reject:
        del p.functions[count:]
        raise
    lists = [g.arguments]
    if r.random() < 0.4:
        lists.append([f.pick(f.types[n][1], f.types[n][0]) if f.types[n][0] is not None else n for n in g.arguments])
    try:
        for given in lists:
            names = [p.fresh("c") for _ in g.outputs]
            for n, y in zip(names, g.outputs):
                f.types[n] = g.types[y]

            def step(env, given=tuple(given), names=tuple(names)):
                g.env.update(zip((n for n, _, _ in g.params), (env[n] for n in given)))
                run(g.steps, g.env)
                env.update(zip(names, (g.env[y] for y in g.outputs)))

            step(f.env)
            types = ", ".join(p.type(*g.types[y]) for y in g.outputs)
            results_of(f, names, [", ".join("%" + n for n in names) + f" = call @{g.name}({', '.join('%' + n for n in given)}) : {types}"], step)
    except Reject:
        del p.functions[count:]
        raise


def targets(seed, rows):
    """Two rows that the program of this number has; each row comes twice in as many numbers as there are rows."""
    return [rows[(seed + k) % len(rows)] for k in (0, len(rows) // 2)]


def generate(seed, rows):
    """A program of some rows [(op, dtype)] of the table, and of its targets, where these can be drawn."""
    p = Program(seed)
    f = Function(p)
    target, another = targets(seed, rows)
    # As many of each type; bool, which most programs have in conditions anyway, is beside a few.
    types = p.r.sample(sorted({t for _, t in rows}), 2) + ["bool", target[1]][p.r.random() < 0.7:]
    mixed = [row for row in rows if row[1] in types]
    # Types that few ops have come more often.
    mixed += [row for row in mixed if row[1] == target[1]] * 2
    wanted = p.r.randrange(1, 9)
    for _ in range(wanted // 2):
        f.draw(*p.r.choice(mixed))
    marked = len(f.scope)
    for row in (target, another):
        any(f.draw(*row) for _ in range(12))
    made = f.scope[marked:][-3:] if len(f.scope) > marked else f.scope[-1:]
    body(f, mixed, wanted - wanted // 2, 0)
    if p.r.random() < 0.35:
        control(f, mixed)
    if LAST and p.r.random() < 0.3:
        before = f.here()
        try:
            p.r.choice(LAST)(f, mixed)
        except Reject:
            f.back_to(before)
    f.finish(made)
    return p
