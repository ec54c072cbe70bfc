# docs/attention.md runs when its files and commands are pasted, and says what comes out; each text of
# docs/not-supported.md is refused with the code that stands above it.
. "$TEST_ROOT/tests/shell.sh"
cat >guide.py <<'END'
import re, subprocess, sys

text = open(sys.argv[1], encoding="utf-8").read()
commands, said, wanted = [], "", []
for name, kind, block in re.findall(r"(?:^`([\w.]+)`:\n\n)?^```(\w*)\n(.*?)^```$", text, re.M | re.S):
    if name:
        open(name, "w", encoding="utf-8").write(block)
    elif kind == "sh":
        commands += block.splitlines()
    elif not kind:
        wanted += block.splitlines()
for command in commands:
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{command}: status {ran.returncode}\n{ran.stdout}{ran.stderr}")
    said += ran.stdout
lacks = [line for line in wanted if not any(got.startswith(line) for got in said.splitlines())]
if lacks or not wanted or len(commands) < 5:
    sys.exit(f"{len(commands)} commands; not said: {lacks}")
END
cat >refused.py <<'END'
import re, subprocess, sys

text = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"\(`([\w./-]+)`\)((?:(?!\(`).)*?)^```ptir\n(.*?)^```$", text, re.M | re.S)
if len(blocks) != text.count("```ptir") or len(blocks) < 10:
    sys.exit(f"{len(blocks)} texts with a code")
for code, _, block in blocks:
    open("f.ptir", "w", encoding="utf-8").write(block)
    ran = subprocess.run(["pto-opt", "f.ptir", "--pipeline=default.yaml", "-o", "out.ptir"], capture_output=True, text=True)
    if ran.returncode not in (4, 5) or f"error: [{code}]" not in ran.stderr:
        sys.exit(f"{block}not refused with {code}: status {ran.returncode}\n{ran.stderr}")
END
mkdir guide && (cd guide && PATH=/usr/bin:$PATH && /usr/bin/python3 -B ../guide.py "$TEST_ROOT/docs/attention.md") || fail 'docs/attention.md'
/usr/bin/python3 -B refused.py "$TEST_ROOT/docs/not-supported.md" || fail 'docs/not-supported.md'
