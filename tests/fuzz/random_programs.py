"""Random programs, as forms: of broadcasts, reductions, transposes, windows, constants, loops and branches."""

import random
import re

import numpy as np

import index_ops as by_index
import numpy_ops
from form import Form, stored


class RandomForm:
    """Text and values of a random program; numbers are integers that every type on the way holds exactly."""

    def __init__(self, seed, has_distance=False):
        self.has_distance = has_distance
        self.r, self.lines, self.values, self.count, self.serial = random.Random(seed), [], [], 0, 0
        r = self.r
        self.dtype = r.choice(("f32", "f32", "i32"))
        rank = r.choice((1, 2, 2, 3, 3, 3, 4, 4, 5))
        self.names = "ABCDE"[:rank]
        while True:
            size = {n: r.choice((1, 2, 3, 5, 8, 17, 33, 64, 100, 300)) for n in self.names}
            if np.prod(list(size.values())) <= 20000:
                break
        if r.random() < 0.05:
            size[r.choice(self.names)] = 0
        self.size, self.inputs = size, {}
        for k in range(r.randrange(1, 4)):
            self.add_input("xyz"[k], tuple(self.names) if k == 0 else self.part(tuple(self.names)))
        self.scalars = [("s", (), np.int64(r.randrange(-3, 4)))] if r.random() < 0.3 else []
        while self.count < r.randrange(3, 12):
            self.step()
        made = [v for v in self.values if v[0] not in self.inputs] or self.values
        self.outputs = made[-r.choice((1, 1, 2, 3)):]

    def part(self, dims):
        """Some dims 1, leading ones gone."""
        r = self.r
        kept = tuple(d if r.random() < 0.6 else "1" for d in dims)
        return kept[r.randrange(len(kept)):] if r.random() < 0.3 else kept

    def shape(self, dims):
        return [eval(d, {}, self.size) for d in dims]

    def type(self, dims):
        return "<" + " x ".join((*dims, self.dtype)) + ">"

    def add_input(self, name, dims):
        rng = np.random.default_rng(self.r.randrange(2**32))
        self.inputs[name] = (dims, rng.integers(-3, 4, self.shape(dims)))
        self.values.append((name, dims, self.inputs[name][1].astype(np.int64)))

    def keep(self, text, dims, value):
        if value.size and np.max(np.abs(value)) >= 2**23:
            return
        self.count += 1
        name = f"v{self.count}"
        self.lines.append(f"%{name} = {text} : {self.type(dims)}")
        self.values.append((name, dims, value))

    def step(self):
        r = self.r
        if r.random() < 0.12:
            self.keep_control()
            return
        kind = r.random()
        name, dims, value = r.choice(self.values[-4:])
        if self.has_distance and self.dtype == "f32" and r.random() < 0.2:
            self.distance(name, dims, value)
        elif kind < 0.45:
            other = r.choice(self.values + self.scalars)
            op, fn = r.choice((("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("maximum", np.maximum), ("minimum", np.minimum)))
            joined = self.joined(dims, other[1])
            if joined is not None and other in self.scalars and r.random() < 0.5:
                self.keep(f"tensor.{op} %{other[0]}, %{name}", joined, fn(other[2], value))
            elif joined is not None:
                self.keep(f"tensor.{op} %{name}, %{other[0]}", joined, fn(value, other[2]))
        elif kind < 0.51:
            op, fn = r.choice((("neg", np.negative), ("abs", np.abs), ("sign", np.sign)))
            self.keep(f"tensor.{op} %{name}", dims, fn(value))
        elif kind < 0.6:
            self.choose(name, dims, value)
        elif kind < 0.75 and dims:
            axes = sorted(r.sample(range(len(dims)), r.randrange(1, len(dims) + 1)))
            op, fn = r.choice((("sum", np.sum), ("sum", np.sum), ("max", np.max), ("min", np.min), ("prod", np.prod)))
            if op not in ("sum", "prod") and any(value.shape[a] == 0 for a in axes):
                return
            kept = r.random() < 0.75
            to = tuple("1" if i in axes else d for i, d in enumerate(dims) if kept or i not in axes)
            self.keep(f"tensor.reduce_{op} %{name} {{axis = {axes}, keepdim = {str(kept).lower()}}}", to, fn(value, tuple(axes), keepdims=kept))
        elif kind < 0.82 and dims:
            self.move(name, dims, value)
        elif kind < 0.89 and len(dims) > 1:
            perm = r.sample(range(len(dims)), len(dims))
            self.keep(f"tensor.transpose %{name} {{perm = {perm}}}", tuple(dims[p] for p in perm), np.transpose(value, perm))
        elif kind < 0.91 and len(dims) > 1:
            op, fn = r.choice((("tril", np.tril), ("triu", np.triu)))
            diagonal = r.randrange(-3, 4)
            self.keep(f"tensor.{op} %{name} {{diagonal = {diagonal}}}", dims, fn(value, diagonal))
        elif kind < 0.92 and dims:
            axis = r.randrange(len(dims))
            along = np.arange(value.shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(dims))])
            self.keep(f"tensor.iota {{axis = {axis}}}", dims, np.broadcast_to(along, value.shape))
        elif kind < 0.94:
            full = tuple(self.names)
            if self.joined(dims, full) == full:
                self.keep(f"tensor.broadcast %{name}", full, np.broadcast_to(value, self.shape(full)))
        elif kind < 0.97 and dims:
            self.go_by_index(name, dims, value, r.randrange(len(dims)))
        else:
            if self.scalars and r.random() < 0.5:
                self.keep("tensor.full %s", dims, np.full(self.shape(dims), self.scalars[0][2]))
                return
            number = r.randrange(-3, 4)
            text = f"{number}.0" if self.dtype == "f32" else str(number)
            self.keep(f"tensor.constant {{value = {text}}}", dims, np.full(self.shape(dims), number))

    def move(self, name, dims, value):
        """A window, parts, a frame, an update or the reverse along one dim."""
        r = self.r
        axis, kind = r.randrange(len(dims)), r.randrange(5)
        n = value.shape[axis]
        zeros = lambda k: "[" + ", ".join(str(k) if i == axis else "0" for i in range(len(dims))) + "]"
        token = lambda text: dims[:axis] + (text,) + dims[axis + 1:]
        cut = lambda k, count: tuple(slice(k, k + count) if i == axis else slice(None) for i in range(len(dims)))
        if kind == 0 and n >= 3:
            k = r.randrange(3)
            self.keep(f"tensor.view %{name}{zeros(k)}", token(f"{dims[axis]} - 2"), value[cut(k, n - 2)])
        elif kind == 1:
            self.keep(f"tensor.flip %{name} {{axis = {axis}}}", dims, np.flip(value, axis))
        elif kind == 2 and value.size < 20000:
            same = [(p, v) for p, d, v in self.values if d == dims]
            parts = [r.choice(same) for _ in range(r.randrange(1, 4))]
            made = np.concatenate([v for _, v in parts], axis)
            self.keep(f"tensor.concat {', '.join('%' + p for p, _ in parts)} {{axis = {axis}}}", token(f"{len(parts)} * ({dims[axis]})"), made)
        elif kind == 3:
            low, high, number = r.randrange(3), r.randrange(3), r.randrange(-3, 4)
            around = [(low, high) if i == axis else (0, 0) for i in range(len(dims))]
            sides = [", ".join(str(pair[k]) for pair in around) for k in (0, 1)]
            text = f"{number}.0" if self.dtype == "f32" else str(number)
            self.keep(f"tensor.pad %{name} low({sides[0]}) high({sides[1]}) {{value = {text}}}", token(f"{dims[axis]} + {low + high}"),
                      np.pad(value, around, constant_values=number))
        elif kind == 4 and n >= 3:
            other, its = r.choice([(p, v) for p, d, v in self.values if d == dims])
            k = r.randrange(3)
            before = self.count
            self.keep(f"tensor.view %{other}{zeros(0)}", token(f"{dims[axis]} - 2"), its[cut(0, n - 2)])
            if self.count > before:
                made = value.copy()
                made[cut(k, n - 2)] = its[cut(0, n - 2)]
                self.keep(f"tensor.assemble %{self.values[-1][0]}, %{name}{zeros(k)}", dims, made)

    def distance(self, name, dims, value):
        """The op of the plugin, of two values of one shape."""
        r = self.r
        other, _, other_value = r.choice([v for v in self.values if v[1] == dims])
        if dims:
            axis = r.randrange(len(dims))
            to = tuple("1" if i == axis else d for i, d in enumerate(dims))
            written = r.choice((f" {{axis = {axis}}}", f" {{axis = {axis - len(dims)}}}"))
            want = ((value - other_value) ** 2).sum(axis, keepdims=True)
            self.keep(f"acme.squared_distance %{name}, %{other}{written}", to, want)

    def go_by_index(self, name, dims, value, axis):
        """A scan, or a list of legal indices that are taken or put to."""
        r = self.r
        if r.random() < 0.4:
            exclusive, reverse = r.random() < 0.5, r.random() < 0.5
            words = f"{{axis = {axis}, exclusive = {str(exclusive).lower()}, reverse = {str(reverse).lower()}}}"
            return self.keep(f"tensor.cumsum %{name} {words}", dims, by_index.scanned(np.add, axis, exclusive, reverse)(value))
        if value.shape[axis] == 0:
            return None
        at = [r.randrange(value.shape[axis]) for _ in range(r.randrange(1, 9))]
        listed, k = (*dims[:axis], str(len(at)), *dims[axis + 1:]), f"k{self.count}"
        self.lines.append(f"%{k} = tensor.constant {{value = dense {at} : <{len(at)} x i32>}} : <{len(at)} x i32>")
        if r.random() < 0.5:
            self.lines.append(f"%{k}t = tensor.take %{name}, %{k} {{axis = {axis}}} : {self.type(listed)}")
            return self.keep(f"tensor.reduce_sum %{k}t {{axis = {axis}}}", (*dims[:axis], "1", *dims[axis + 1:]), np.sum(np.take(value, at, axis), axis, keepdims=True))
        number, add = r.randrange(-3, 4), r.randrange(0, 2)
        parts = np.full([len(at) if i == axis else n for i, n in enumerate(value.shape)], number)
        self.lines.append(f"%{k}v = tensor.constant {{value = {number}{'.0' if self.dtype == 'f32' else ''}}} : {self.type(listed)}")
        return self.keep(f"tensor.{'index_add' if add else 'scatter_update'} %{name}, %{k}, %{k}v {{axis = {axis}}}", dims, by_index.put_slices(axis, add)(value, at, parts))

    def choose(self, name, dims, value):
        """A comparison, perhaps turned or joined with another one, and what it chooses from."""
        r = self.r
        (p, p_dims, p_value), (q, q_dims, q_value) = r.choice(self.values), r.choice(self.values)
        compared = self.joined(p_dims, q_dims)
        joined = compared is not None and self.joined(compared, dims)
        if not joined:
            return
        word = r.choice(list(numpy_ops.RELATIONS))
        truth, bools = numpy_ops.RELATIONS[word](p_value, q_value), "<" + " x ".join((*compared, "bool")) + ">"
        condition = f"c{self.count}"
        self.lines.append(f"%{condition} = tensor.{word} %{p}, %{q} : {bools}")
        if r.random() < 0.3:
            self.lines.append(f"%{condition}n = tensor.logical_not %{condition} : {bools}")
            condition, truth = condition + "n", ~truth
        if r.random() < 0.3:
            self.lines.append(f"%{condition}d = tensor.ge %{q}, %{p} : {bools}")
            self.lines.append(f"%{condition}j = tensor.logical_or %{condition}, %{condition}d : {bools}")
            condition, truth = condition + "j", truth | (q_value >= p_value)
        other = r.choice((name, p if self.joined(p_dims, joined) == joined else name))
        other_value = p_value if other == p else value
        self.keep(f"tensor.where %{condition}, %{name}, %{other}", joined, np.where(truth, value, other_value))

    # ---- loops and branches: lines, and functions that change the values by name ----

    def keep_control(self):
        """A loop or branch over what is there, and what it leaves; nothing when numbers become too large."""
        lines, run, results = self.control([(n, d) for n, d, _ in self.values[-5:]], [], 0)
        env = {n: v for n, _, v in self.values}
        run(env)
        if any(v.size and np.max(np.abs(v)) >= 2**23 for v in env.values()):
            return
        self.lines += lines
        self.count += 1
        self.values += [(n, d, env[n]) for n, d in results]

    def fresh(self, stem):
        self.serial += 1
        return f"{stem}{self.serial}"

    def block(self, scope, indices, depth):
        r = self.r
        lines, runs, scope = [], [], list(scope)
        for _ in range(r.randrange(0, 4)):
            if depth < 2 and r.random() < 0.3:
                more, run, results = self.control(scope, indices, depth + 1)
                lines += more
                runs.append(run)
                scope += results
                continue
            (a, a_dims), (b, b_dims) = r.choice(scope[-4:]), r.choice(scope)
            dims = self.joined(a_dims, b_dims)
            if dims is None:
                continue
            op, fn = r.choice((("add", np.add), ("sub", np.subtract), ("maximum", np.maximum), ("minimum", np.minimum)))
            name = self.fresh("b")
            lines.append(f"%{name} = tensor.{op} %{a}, %{b} : {self.type(dims)}")
            runs.append(lambda env, n=name, a=a, b=b, f=fn: env.update({n: f(env[a], env[b])}))
            scope.append((name, dims))

        def run(env):
            for one in runs:
                one(env)

        return lines, run, scope

    def choice_of(self, scope, dims):
        """A value of those dims, the last ones more often."""
        fits = [n for n, d in scope if d == dims]
        return self.r.choice(fits[-2:] if self.r.random() < 0.8 else fits)

    def control(self, scope, indices, depth):
        return self.loop(scope, indices, depth) if self.r.random() < 0.6 else self.branch(scope, indices, depth)

    def loop(self, scope, indices, depth):
        r = self.r
        carried = r.sample(scope, min(len(scope), r.choice((1, 1, 2))))
        index, args, results = self.fresh("i"), [self.fresh("a") for _ in carried], [self.fresh("r") for _ in carried]
        start, end, step = r.choice((0, 0, 1)), r.choice((0, 1, 2, 3, 4)), r.choice((1, 1, 2))
        bound = r.choice(indices) if indices and r.random() < 0.3 else None
        inside = scope + [(a, d) for a, (_, d) in zip(args, carried)]
        lines, run, made = self.block(inside, indices + [index], depth)
        yields = [self.choice_of(made, d) for _, d in carried]
        head = ", ".join(f"%{n}" for n in results) + f" = for %{index} = {start} to " + (f"%{bound} + 1" if bound else str(end)) + f" step {step}"
        head += " carry(" + ", ".join(f"%{a} = %{v}" for a, (v, _) in zip(args, carried)) + ") {"
        types = ", ".join(self.type(d) for _, d in carried)

        def follow(env):
            values = [env[v] for v, _ in carried]
            for i in range(start, env[bound] + 1 if bound else end, step):
                inner = {**env, **dict(zip(args, values)), index: i}
                run(inner)
                values = [inner[y] for y in yields]
            env.update(zip(results, values))

        return [head, *lines, "yield " + ", ".join(f"%{y}" for y in yields), f"}} : {types}"], follow, [(n, d) for n, (_, d) in zip(results, carried)]

    def branch(self, scope, indices, depth):
        """On an index or on an element."""
        r = self.r
        name, dims = r.choice(scope)
        element, result, lines = self.fresh("e"), self.fresh("r"), []
        read, read_dims = r.choice(scope)
        reads = self.dtype == "i32" and (not indices or r.random() < 0.5) and 0 not in self.shape(read_dims)
        relation, holds = r.choice((("==", np.equal), ("<=", np.less_equal), (">", np.greater)))
        index, number = indices and r.choice(indices), r.randrange(-1, 3)
        if reads:
            lines.append(f"%{element} = scalar_of %{read}[{', '.join('0' for _ in read_dims)}] : i32")
        left = f"%{element}" if reads else f"%{index} mod 2" if indices else str(r.randrange(0, 2))
        value = lambda env: int(env[read].reshape(-1)[0]) if reads else env[index] % 2 if indices else int(left)
        sides = []
        for _ in range(2):
            block, run, made = self.block(scope, indices, depth)
            sides.append((block, run, self.choice_of(made, dims)))
        lines.append(f"%{result} = if {left} {relation} {number} {{")
        lines += [*sides[0][0], f"yield %{sides[0][2]}", "} else {", *sides[1][0], f"yield %{sides[1][2]}", f"}} : {self.type(dims)}"]

        def follow(env):
            _, run, y = sides[0 if holds(value(env), number) else 1]
            inner = dict(env)
            run(inner)
            env[result] = inner[y]

        return lines, follow, [(result, dims)]

    def joined(self, a, b):
        n = max(len(a), len(b))
        a, b = ("1",) * (n - len(a)) + a, ("1",) * (n - len(b)) + b
        if any(p != q and "1" not in (p, q) for p, q in zip(a, b)):
            return None
        return tuple(q if p == "1" else p for p, q in zip(a, b))

    def form(self, seed):
        bound = {n for dims, _ in self.inputs.values() for n in dims}
        outputs = {n: self.type(dims) for n, dims, _ in self.outputs}
        values = [v for _, _, v in self.outputs]
        assert bound >= {n for _, dims, _ in self.outputs for d in dims for n in re.findall("[A-Z]", d)}
        arrays = {n: a for n, (_, a) in self.inputs.items()}
        given = lambda name, dtype, shape, rng: stored(dtype, arrays[name])
        want = lambda *_: tuple(values)
        arrays |= {n: a for n, _, a in self.scalars}
        types = {n: self.type(d) for n, (d, _) in self.inputs.items()} | {n: self.dtype for n, _, _ in self.scalars}
        form = Form(f"random-{seed}", types, outputs, "\n".join(self.lines), want, [self.size])
        form.prepare = given
        form.exact_bits = False
        return form


def randoms(first, count, has_distance):
    for seed in range(first, first + count):
        yield RandomForm(seed, has_distance).form(seed)
