# Any set of dims is reduced in one kernel, whole, in chunks and in parts, with what is computed before and after it,
# and results are numpy's.
. "$TEST_ROOT/tests/shell.sh"
cat >sets.py <<'END'
import itertools
import subprocess
import sys

import numpy as np

rng = np.random.default_rng(5)
shape, tiles = (3, 5, 4, 7), "{ use: pto.tiling-manual, with: { rows: 2, columns: 8 } }"
failed = 0
for count in (2, 3):
    for axes in itertools.combinations(range(4), count):
        kept = [1 if d in axes else n for d, n in enumerate(shape)]
        x, b = rng.standard_normal(shape).astype(np.float32), rng.standard_normal(shape[1:]).astype(np.float32)
        x[1, 2, 3, 4] = np.nan if count == 3 else x[1, 2, 3, 4]
        full, result = [f"tensor<{' x '.join(map(str, s))} x f32>" for s in (shape, kept)]
        for n in ("", "$N"):  # the second dim static and not
            text = f"""func @f(%x: {full}, %b: tensor<5 x 4 x 7 x f32>) -> ({result}, {full}) {{
  %a = tensor.add %x, %b : {full}
  %s = tensor.reduce_sum %a {{axis = {list(axes)}}} : {result}
  %m = tensor.reduce_max %x {{axis = {list(axes)}}} : {result}
  %y = tensor.sub %a, %s : {full}
  return %m, %y
}}
"""
            if n:
                text = text.replace(" 5 x 4", " $N x 4").replace("<5 x 4", "<$N x 4").replace(" x 5 x", " x $N x")
            open("f.ptir", "w").write(text)
            np.save("x.npy", x)
            np.save("b.npy", b)
            with np.errstate(all="ignore"):
                a = x.astype(np.float64) + b
                y = a - a.sum(axes, keepdims=True)
            for options in ([], ["--set", f"tile.with.strategy={tiles}"], ["--schedule=p.yaml"]):
                run = "pto-run f.ptir --in x=x.npy --in b=b.npy --out m=m.npy --out y=y.npy".split() + options
                done = subprocess.run(run, capture_output=True, text=True)
                if options == ["--schedule=p.yaml"] and "E1804" in done.stderr or "E1801" in done.stderr:
                    continue  # there is one chunk
                good = done.returncode == 0 and np.array_equal(np.load("m.npy"), x.max(axes, keepdims=True), equal_nan=True)
                if not good or not np.allclose(np.load("y.npy"), y, rtol=1e-5, atol=1e-4, equal_nan=True):
                    print(axes, n, options, done.stdout, done.stderr)
                    failed += 1
sys.exit(failed != 0)
END
printf 'pto-schedule: 1\ndecisions:\n  - { at: "@f/f_0", decide: part, value: 2, pinned: true }\n' >p.yaml
/usr/bin/python3 sets.py >out 2>&1 || fail
# One kernel, as far as one nest has all of it.
cat >one.ptir <<'END'
func @one(%x: tensor<8 x 20 x 6 x 64 x f32>) -> tensor<20 x 64 x f32> {
  %y = tensor.reduce_max %x {axis = [0, 2], keepdim = false} : tensor<20 x 64 x f32>
  return %y
}
END
ends 0 pto-opt one.ptir --pipeline=default.yaml
[ "$(grep -c block.kernel out)" -eq 1 ] || fail "several kernels"
