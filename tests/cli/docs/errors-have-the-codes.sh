# Every example of docs/errors/: the wrong text reports the code, the fixed one succeeds. And `pto-inspect errors CODE`
# prints the section, of plugins' codes too; a page beside a plugin explains its own.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >examples.py <<'END'
import os, re, subprocess, sys

folder = sys.argv[1]
bad = count = 0
for page in sorted(os.listdir(folder)):
    if page == "README.md":
        continue
    for section in re.split(r"^## ", open(os.path.join(folder, page), encoding="utf-8").read(), flags=re.M)[1:]:
        code = section.split("\n", 1)[0]
        blocks = re.findall(r"^```(\w+)(?: (wrong|fixed))?\n(.*?)^```$", section, re.M | re.S)
        assert {m for _, m, _ in blocks} >= {"wrong", "fixed"}, f"{code}: no wrong or no fixed block"
        count += 1
        for mark in "wrong", "fixed":
            command = "pto-opt f.ptir"
            for kind, of, text in blocks:
                if of not in ("", mark):
                    continue
                if kind == "sh":
                    command = text.strip()
                else:
                    open("f." + kind, "w", encoding="utf-8").write(text)
            ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
            if (ran.returncode != 0) != (mark == "wrong") or (f"[{code}]" in ran.stderr) != (mark == "wrong"):
                bad += 1
                print(f"{code}, {mark}: status {ran.returncode} from: {command}\n{ran.stderr}")
        shown = subprocess.run(["pto-inspect", "errors", code], capture_output=True, text=True)
        if shown.returncode != 0 or section.split("\n", 1)[1].strip() not in shown.stdout:
            bad += 1
            print(f"pto-inspect errors {code}: status {shown.returncode}\n{shown.stdout}{shown.stderr}")
print(f"{count} codes are explained")
sys.exit(bad != 0 or count < 40)
END
/usr/bin/python3 -B examples.py "$TEST_ROOT/docs/errors"

# A code without a section: its sentence, and what reports it.
ends 0 pto-inspect errors E1406
says '^E1406 .*a .npy file has bytes after its elements$' out
says '^    reported by      the reader of tensor files$' out
ends 0 pto-inspect errors pto.fuse/cannot-join
says '^pto.fuse/cannot-join .*is not explained' out
fails 2 '^pto-inspect: error: \[E1504\] there is no diagnostic `E9999`$' pto-inspect errors E9999
fails 2 '^pto-inspect: error: \[E1504\] there is no diagnostic `org.acme/what`$' pto-inspect errors org.acme/what
ends 0 pto-inspect errors E0110 --format=json
/usr/bin/python3 -c 'import json; [e] = json.load(open("out")); assert e["name"] == "E0110" and "```ptir fixed" in e["explanation"]'

# The page of a plugin lies beside it.
mkdir plugins
cp "$TEST_PLUGINS/liar-dies.so" plugins/
printf '# Codes\n\n## org.acme/what\n\nIt is explained here.\n' >plugins/liar-dies.md
ends 0 pto-inspect errors org.acme/what --plugin=plugins/liar-dies.so
says '^It is explained here.$' out
