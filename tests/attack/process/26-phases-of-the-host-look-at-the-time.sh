# What the host does besides plugins ends with --time-limit too: it looks at the time where a phase begins, is killed
# half a second after the limit in the middle of one, and the sentence says which it was.
. "$TEST_ROOT/tests/shell.sh"
cp "$TEST_ROOT/tests/attack/inputs/one-product.ptir" m.ptir
cat >case.yaml <<'END'
pto-case: 1
name: slow
module: m.ptir
data: make.py
sizes: { small: { N: 4 } }
inputs: { x: x.npy }
outputs: { y: { expect: y.npy, rule: f32-elementwise } }
END
echo 'import time; time.sleep(100)' >make.py
cat >run.py <<'END'
import subprocess, sys, time
begin = time.monotonic()
said = "pto-run: the time limit of 0.5 s ran out and the worker did not stop when asked; it was killed outside any plugin, while making and reading the data of the case\n"
p = subprocess.run(["pto-run", "--case", "case.yaml", "--time-limit=0.5"], stderr=subprocess.PIPE, text=True)
seconds = time.monotonic() - begin
assert p.returncode == 75, p.returncode
assert p.stderr.startswith(said), p.stderr
assert seconds < 2.4, f"{seconds} s: as late as for a plugin"
END
/usr/bin/python3 run.py || exit 1

# A backend that does not heed the time and ends: what comes after it does not begin.
PTO_TEST_BACKEND='sleep' exits 75 pto-run m.ptir --random-inputs=1 --plugin="$TEST_PLUGINS/hostile-backend.so" --backend=test.hostile-backend --out y=y.npy --time-limit=0.3 2>text || fail
grep -qxF 'pto-run: the time limit of 0.3 s ran out outside any plugin, while writing the outputs' text && [ ! -e y.npy ] || fail
