# What only moves an element moves its bits: each pattern of a narrow float, NaNs of any bits too, by each op that
# moves, beside ops that compute with the same elements, and by vectors of each width.
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 - <<'END' || exit 1
import numpy as np

lines, results, parameters, wanted, given = [], [], [], {}, {}


def tensor(type, *dims):
    return "tensor<" + " x ".join(map(str, dims)) + f" x {type}>"


def op(name, text, type, want):
    lines.append(f"  %{name} = tensor.{text} : {tensor(type, *want.shape)}")
    results.append((name, tensor(type, *want.shape)))
    wanted[name] = want


rng = np.random.default_rng(1)
for type, rows in (("f16", 256), ("bf16", 256), ("f8e4m3", 16), ("f8e5m2", 16)):
    columns, bits = (rows, "u16") if rows == 256 else (rows, "u8")
    x = np.arange(rows * columns).astype("u" + str(int(bits[1:]) // 8)).reshape(rows, columns)
    z, c, i = np.roll(x, 77), rng.integers(0, 2, x.shape).astype(bool), rng.permutation(rows).astype(np.int32)
    a = {key: f"{key}_{type}" for key in "xzci"}
    given.update({a["x"]: x, a["z"]: z, a["i"]: i})
    parameters += [f"%{a['x']}: {tensor(type, *x.shape)}", f"%{a['z']}: {tensor(type, *x.shape)}",
                   f"%{a['i']}: {tensor('i32', rows)}"]
    named = lambda name: f"{name}_{type}"
    op(named("reshape"), f"reshape %{a['x']}", type, x.reshape(-1))
    op(named("transpose"), f"transpose %{a['x']} {{perm = [1, 0]}}", type, x.T)
    op(named("flip"), f"flip %{a['x']} {{axis = 0}}", type, x[::-1])
    op(named("back"), f"flip %{a['x']} {{axis = [0, 1]}}", type, x[::-1, ::-1])
    op(named("view"), f"view %{a['x']}[1, 3]", type, x[1:, 3:])
    op(named("column"), f"view %{a['x']}[0, 1]", type, x[:, 1:2])
    op(named("concat"), f"concat %{a['x']}, %{a['z']} {{axis = 1}}", type, np.concatenate([x, z], 1))
    op(named("pad"), f"pad %{a['x']} low(1, 2) high(1, 0)", type, np.pad(x, ((1, 1), (2, 0))))
    op(named("take"), f"take %{a['x']}, %{a['i']} {{axis = 0}}", type, x[i])
    op(named("pick"), f"take %{a['x']}, %{a['i']} {{axis = 1}}", type, x[:, i])
    op(named("bits"), f"bitcast %{a['x']}", bits, x)
    op(named("cast"), f"bitcast %{named('bits')}", type, x)
    op(named("turned"), f"flip %{named('cast')} {{axis = 0}}", type, x[::-1])
    op(named("number"), f"bitcast %{named('turned')}", bits, x[::-1])
    if rows == 16:
        continue
    given[a["c"]] = c
    parameters.append(f"%{a['c']}: {tensor('bool', *x.shape)}")
    op(named("where"), f"where %{a['c']}, %{a['x']}, %{a['z']}", type, np.where(c, x, z))
    op(named("tril"), f"tril %{a['x']} {{diagonal = 1}}", type, np.tril(x, 1))
    op(named("triu"), f"triu %{a['x']} {{diagonal = -3}}", type, np.triu(x, -3))
    # Beside numbers that are computed of the same elements, before and after sums of rows.
    number, is_nan = (0x3C00, lambda y: (y & 0x7FFF) > 0x7C00) if type == "f16" else (0x3F80, lambda y: (y & 0x7FFF) > 0x7F80)
    op(named("minus"), f"neg %{a['x']}", type, np.where(is_nan(x), 0x7E00 if type == "f16" else 0x7FC0, x ^ 0x8000))
    op(named("either"), f"where %{a['c']}, %{a['x']}, %{named('minus')}", type,
       np.where(c, x, wanted[named("minus")]))
    lines.append(f"  %{named('one')} = tensor.constant {{value = 1.0}} : {tensor(type, *x.shape)}")
    op(named("some"), f"where %{a['c']}, %{a['x']}, %{named('one')}", type, np.where(c, x, number))
    lines.append(f"  %{named('most')} = tensor.reduce_max %{named('some')} {{axis = 1, nan = \"ignore\"}} : {tensor(type, rows, 1)}")
    lines.append(f"  %{named('less')} = tensor.sub %{named('some')}, %{named('most')} : {tensor(type, *x.shape)}")
    lines.append(f"  %{named('later')} = tensor.where %{a['c']}, %{named('some')}, %{named('less')} : {tensor(type, *x.shape)}")
    results.append((named("later"), tensor(type, *x.shape)))
    wanted[named("later")] = x
np.savez("in.npz", **{name: y.view("<f2") if "_f16" in name and y.dtype == np.uint16 else y for name, y in given.items()})
np.savez("want.npz", **wanted)
np.savez("only.npz", **{f"later_{type}": given[f"c_{type}"] for type in ("f16", "bf16")})
with open("f.ptir", "w") as file:
    file.write(f"func @f({', '.join(parameters)}) -> ({', '.join(type for _, type in results)}) {{\n" +
               "\n".join(lines) + f"\n  return {', '.join('%' + name for name, _ in results)}\n}}\n")
with open("options", "w") as file:
    file.write("\n".join([f"--in={name}=in.npz:{name}" for name in given] + [f"--out={name}=got.{name}.npy" for name in wanted]))
END
cat >compare.py <<'END'
import numpy as np
want, only = np.load("want.npz"), np.load("only.npz")
for name in want:
    got = np.load(f"got.{name}.npy")
    same = got.view(want[name].dtype) == want[name]
    if name in only: same |= ~only[name]
    assert same.all(), f"{name}: {(~same).sum()} elements have other bits"
END
moves() { # OPTION..
  # shellcheck disable=SC2046 # options are words
  ends 0 pto-run f.ptir "$@" $(cat options)
  /usr/bin/python3 compare.py >>out 2>&1 || fail "$*"
}
moves --backend=pto.reference
moves --pipeline=native.yaml
moves --pipeline=native.yaml --machine=cpu-generic.yaml --set=backend.with.isa=plain
if grep -qw avx2 /proc/cpuinfo; then moves --pipeline=native.yaml --machine=cpu-avx2.yaml --set=backend.with.isa=avx2; fi
