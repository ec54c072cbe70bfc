# SIGINT, SIGTERM and SIGHUP to the tool end it with 128 + n, and its worker with it, without a word and without
# leftovers; a pipe that closes is not an internal error.
. "$TEST_ROOT/tests/shell.sh"
negation >m.ptir
mkdir out
for pair in INT:130 TERM:143 HUP:129; do
  # A shell starts programs in the background with an ignored SIGINT; python does not.
  /usr/bin/python3 - "${pair%:*}" "${pair#*:}" <<'END' >text 2>&1 || fail "$pair"
import os, pathlib, signal, subprocess, sys, time
sent, wanted = getattr(signal, "SIG" + sys.argv[1]), int(sys.argv[2])
p = subprocess.Popen(["pto-opt", "m.ptir", "--plugin=" + os.environ["TEST_PLUGINS"] + "/liar-dies.so",
                      "--passes=test.liar-dies{way=hang}", "-o", "out/o.ptir"], stderr=subprocess.PIPE)
children = pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children")
for _ in range(6000):
    workers = children.read_text().split()
    if workers and "liar-dies" in pathlib.Path(f"/proc/{workers[0]}/maps").read_text():
        break
    time.sleep(0.01)
else:
    sys.exit("the plugin was never loaded")
time.sleep(0.05)
p.send_signal(sent)
words = p.communicate(timeout=120)[1]
assert p.returncode == wanted, f"status {p.returncode}, wanted {wanted}"
assert words == b"", words
assert not os.path.exists(f"/proc/{workers[0]}"), "the worker lives on"
END
done
[ -z "$(ls out)" ] || fail "left $(ls out)"

# A case's temporary data goes too, and its data program with it.
mkdir case tmp && cp m.ptir case/m.ptir && cat >case/case.yaml <<'END'
pto-case: 1
name: slow
module: m.ptir
data: make.py
sizes: { small: { N: 4 } }
inputs: { x: x.npy }
outputs: { y: { expect: y.npy, rule: f32-elementwise } }
END
printf 'import os, pathlib, sys, time\npathlib.Path(sys.argv[1], "begun").write_text(str(os.getpid()))\ntime.sleep(100)\n' >case/make.py
/usr/bin/python3 - <<'END' >text 2>&1 || fail case
import glob, os, signal, subprocess, sys, time
p = subprocess.Popen(["pto-run", "--case", "case/case.yaml", "--backend=pto.reference"], env=dict(os.environ, TMPDIR="tmp"))
for _ in range(6000):
    begun = glob.glob("tmp/*/begun")
    if begun and open(begun[0]).read():
        break
    time.sleep(0.01)
else:
    sys.exit("the data program never began")
program = open(begun[0]).read()
p.send_signal(signal.SIGTERM)
p.wait(120)
assert p.returncode == 143, p.returncode
for _ in range(6000):
    if not os.path.exists(f"/proc/{program}"):
        break
    time.sleep(0.01)
else:
    sys.exit("the data program lives on")
END
[ -z "$(ls tmp)" ] || fail "left $(ls tmp)"

# The reader of a pipe goes first.
i=0
{ while [ $i -lt 20000 ]; do echo "func @f$i(%x: tensor<4 x f32>) -> tensor<4 x f32> { return %x }"; i=$((i + 1)); done; } >big.ptir
{ pto-opt big.ptir; echo $? >status; } 2>text | head -n 1 >first
[ "$(cat status)" -eq 141 ] && [ ! -s text ] || fail "a closed pipe: status $(cat status)"
