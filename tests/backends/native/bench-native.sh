# The driver of ./dev bench native on one tiny row: what it prints and the page that it writes; a peer that is not
# there, a row that cannot run, and a result that is wrong are said.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
built=$(dirname "$(dirname "$(command -v pto-run)")")
cat >rows.txt <<'END'
# name | program | sizes | limit | floors | goals | error
small softmax | softmax | R=16 C=64 | stream | 0.001 | 0.001 | - | - | 4e-6
a call with little to do | swiglu | R=1 C=16 | stream | - | - | - | - | 4e-6
fast product | matmul_f32 | M=16 N=24 K=32 | f32 | 1e9 | 1e9 | - | - | 4e-6
small product | matmul_f32 | M=$16 N=24 K=32 | f32 | 1e9 | 1e9 | 90 | 90 | 4e-6 | made up
END
cat >bench <<END
exec /usr/bin/python3 -B "$TEST_ROOT/tests/bench/native/run.py" --workloads rows.txt --build "$built" --threads 1 --seconds 0.2 \
  --machine cpu-avx2.yaml --peers-dir none --peers numpy,nonesuch "\$@"
END
ends 0 sh bench --page page.md
says '^small softmax  *1 thread  *[0-9.]* ms  *[0-9.e-]* GB/s, limit [0-9.e-]* ([0-9]* %) (floor 0.001), error [0-9.]*e-[0-9]*$' out
says '^small product  *1 thread .* GFLOP/s, limit .*, ours, static [0-9.e-]*: [0-9.]*x (floor 1e9), error .*, below: made up$' out
says '^fast product .*, below: 1e9 times numpy would be [0-9]* % of the limit$' out
says '^numpy: [0-9.]*' out
says '^nonesuch: there is no such peer$' out
says '^Start: [0-9]* ms until .*; [0-9]* ms with what the compiler made before$' out
says '^Call: [0-9]* ns (least [0-9]*) for a call with little to do; threads: 1$' out
says '^# Speed on this CPU$' page.md
says '^| small softmax | [0-9.e-]* ([0-9.e-]*) | [0-9.e-]* GB/s | [0-9.e-]* stream | [0-9]* % | - | - | - | 0.001 | [0-9.]*e-[0-9]* |  |$' page.md
says '^| small product | .* | 1e9 | [0-9.]*e-[0-9]* | below: made up |$' page.md
says '^Rows below their floor: 2.$' page.md
grep -c "$PWD\|$(uname -n)" page.md >named && fail "the page names this machine"

# Why a floor is not reached: it asks for more than the least time of the limit, than the median of its times, or than
# any row of the type reached, of which there are enough.
cat >why.py <<END
import sys
sys.path.insert(0, "$TEST_ROOT/tests/bench/native")
import page, run
row = run.Row("x | softmax | R=1 C=1 | stream | 2 | 2 | - | - | 1")
for least, median in ((0.99, 1.2), (0.8, 0.95), (0.8, 0.85)):
    r = {"row": row, "ours": {"ms": 1, "error": 0}, "peers": {"numpy": {"ms": 1.8}}, "limits": {"stream": least},
         "medians": {"stream": median}, "refused": None}
    print(page.Verdict(r).how(r))
row = run.Row("x | softmax | R=1 C=1 | f32 | 1.2 | 1.2 | - | - | 1")
for count, best in ((8, 0.93), (8, 0.97), (7, 0.93)):
    rows = [{"row": row, "ours": {"ms": 1, "error": 0}, "peers": {"numpy": {"ms": 1.12}}, "limits": {"f32": 0.89}, "medians": {"f32": 0.9},
             "refused": None, "threads": 1} for i in range(count)]
    rows[0]["ours"] = {"ms": 0.89 / best, "error": 0}
    page.find_most(rows)
    print(page.Verdict(rows[1]).how(rows[1]))
END
ends 0 /usr/bin/python3 -B why.py
says_line 'below: 2 times numpy would be 110 % of the limit' out
says_line 'below: 2 times numpy would be 0.9 ms, the median of the limit was 0.95' out
says_line 'below' out
says_line 'below: 1.2 times numpy would be 95 % of the limit, of which no row of f32 reached more than 93 %' out
[ "$(grep -c '^below$' out)" -eq 3 ] || fail "reasons where there are none"

# How long an example takes to compile, alone.
mkdir -p examples/softmax
cp "$TEST_ROOT/examples/softmax/softmax.ptir" examples/softmax
ends 0 sh bench compiling --examples examples --page compiling.md
says '^softmax  *[0-9]* lines of C, passes [0-9.]* ms, with the C compiler [0-9.]* ms, from the cache [0-9.]* ms$' out
says '^| softmax | [0-9]* | [0-9.]* | [0-9.]* | [0-9.]* |$' compiling.md
says '^| median | [0-9]* | [0-9.]* | [0-9.]* | [0-9.]* |$' compiling.md

# The sum of two is not a softmax.
cat >wrong.ptir <<'END'
func @softmax(%x: tensor<16 x 64 x f32>) -> tensor<16 x 64 x f32> {
  %y = tensor.add %x, %x : tensor<16 x 64 x f32>
  return %y
}
END
ends 1 sh bench 'small softmax' --program-text wrong.ptir
says 'error [0-9.]*e+0[0-9], wrong: the error is more than 4e-06$' out

sed 's/tensor.add %x, %x/tensor.cast %x/; s/-> tensor<16 x 64 x f32>/-> tensor<16 x 64 x f64>/' wrong.ptir >refused.ptir
ends 0 sh bench 'small softmax' --program-text refused.ptir
says '^small softmax  *1 thread , not run: ' out

ends 1 sh bench nothing
says_line 'no row of rows.txt matches nothing'
