# Every code of the tables has a section in docs/errors/, and every section with a code of the tables is of one that
# there is. Of every example the wrong text reports the code, the fixed one succeeds. And `pto-inspect errors CODE`
# prints the section, of plugins' codes too, which all have one; a page beside a plugin explains its own.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >examples.py <<'END'
import os, re, subprocess, sys

share, folder, plugins, tables = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
# Sections without an example, and why there is none.
PLUGIN, TIME = "a faulty plugin reports it", "it depends on the clock"
HINT, MACHINE = "it takes a compiled module", "machines of users report it"
WITHOUT = dict.fromkeys(f"E{n}" for n in (1302, 1303, 1304, 1305, 1306, 1310, 1311, 1312, 1313, *range(1320, 1329), 1330, 1333, 1340,
                                          1341, 1342, 1343, 1390, 1706, 1707, 1708, 1715, 1901, 1902, 1904, 1905))
WITHOUT = {code: PLUGIN for code in WITHOUT}
# What a property of the module refuses: only a faulty plugin, or a module that was changed by hand, breaks it.
WITHOUT |= dict.fromkeys([f"pto.allocate/{w}" for w in ("misaligned", "no-address", "out-of-space", "overlap")] +
                         [f"pto.decompose-{w}/composite-left" for w in ("matmul", "quantize", "random", "rms-norm", "softmax")] +
                         ["pto.expand-math/no-instruction", "pto.expand-math/propagates-nan", "pto.legalize-types/illegal-type",
                          "pto.cpu-sim/event", "pto.cpu-sim/leftover-tokens", "pto.cpu-sim/no-core", "pto.cpu-sim/overlap", "pto.bufferized/tensor",
                          "pto.order/operand", "pto.select/tile-op", "pto.select/tile-value", "pto.task-graph/not-freed"] +
                         [f"pto.distributed/{w}" for w in ("bare", "grid", "nested", "no-core", "too-many", "wrong-core")] +
                         [f"pto.layouts-assigned/{w}" for w in ("illegal-change", "illegal-layout", "no-layout", "unaligned")] +
                         [f"pto.spaces-assigned/{w}" for w in ("illegal-load", "illegal-move", "illegal-store", "no-space")] +
                         [f"pto.synchronize/{w}" for w in ("endless-wait", "no-address", "unknown-event", "too-deep", "too-large")], PLUGIN)
WITHOUT |= dict.fromkeys(("pto.pipeline/no-space", "pto.tile/copied-window", "pto.tile/largest", "pto.tile/no-whole-rows", "pto.bufferize/copy", "pto.tile/single-elements",
                          "pto.allocate/pipes-wait", "pto.hoist/hoisted", "pto.hoist/stays", "pto.hoist-const/kept", "pto.hoist-const/computed", "pto.hoist-const/written", "pto.variants/one-form",
                           "pto.decompose-matmul/apart", "pto.bind-products/loop", "pto.bind-products/type", "pto.attention-nest/left",
                           "pto.attention-nest/made", "pto.sink-loops/hoisted", "pto.sink-loops/in-nest", "pto.sink-loops/launches",
                           "pto.weights-nest/left", "pto.weights-nest/made", "pto.native-layout/left", "pto.native-layout/packed",
                           "pto.fuse-vector/ends", "pto.fuse-vector/separate", "pto.expand-math/steps",
                          "pto.spread-loops/in-order", "E1114"), "it is a remark, of what succeeds")
WITHOUT |= dict.fromkeys(("E1611", "E1612"), "a program that embeds pto reports it")
WITHOUT |= dict.fromkeys(("pto.cpu-sim/barrier", "pto.select/no-relation", "pto.expand-math/no-truth-values", "pto.tile/no-truth-values", "pto.expand-math/no-expansion",
                          "pto.select/no-relu", "pto.select/no-scale", "pto.synchronize/no-pipe"), MACHINE)
WITHOUT |= {"pto.cpu-sim/interrupted": TIME, "pto.reference/interrupted": TIME, "pto.reference/unsupported": "it takes what no verifier knows",
            "pto.pipeline/does-not-fit": HINT}
WITHOUT |= {"E0315": PLUGIN, "E1111": PLUGIN, "E0117": TIME, "E1508": TIME, "E1711": TIME, "E1712": HINT, "E1332": HINT, "pto.expand-math/no-type": MACHINE}
codes = {code for table in tables for code in re.findall(r"^DIAG\((\w+)", open(table, encoding="utf-8").read(), re.M)}
explained = set()
os.mkdir("examples")
os.chdir("examples")
bad = count = 0
for page in sorted(os.listdir(folder)):
    if page == "README.md":
        continue
    for section in re.split(r"^## ", open(os.path.join(folder, page), encoding="utf-8").read(), flags=re.M)[1:]:
        code = section.split("\n", 1)[0]
        blocks = re.findall(r"^```(\w+)(?: (wrong|fixed))?\n(.*?)^```$", section, re.M | re.S)
        assert code not in explained, f"{code} is explained twice"
        explained.add(code)
        assert (code in WITHOUT) != ({m for _, m, _ in blocks} >= {"wrong", "fixed"}), f"{code}: wrong or fixed block"
        count += 1
        if count % share:
            continue
        for mark in ("wrong", "fixed") if code not in WITHOUT else ():
            command = "pto-opt f.ptir"
            for kind, of, text in blocks:
                if of not in ("", mark):
                    continue
                if kind == "sh":
                    command = text.strip()
                else:
                    open("f." + kind, "w", encoding="utf-8").write(text)
            ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
            said = f"[{code}]" in ran.stderr
            failed = ran.returncode != 0 or f" warning: [{code}]" in ran.stderr
            if failed != (mark == "wrong") or said != (mark == "wrong"):
                bad += 1
                print(f"{code}, {mark}: status {ran.returncode} from: {command}\n{ran.stderr}")
        shown = subprocess.run(["pto-inspect", "errors", code], capture_output=True, text=True)
        if shown.returncode != 0 or section.split("\n", 1)[1].strip() not in shown.stdout:
            bad += 1
            print(f"pto-inspect errors {code}: status {shown.returncode}\n{shown.stdout}{shown.stderr}")
print(f"{count} codes are explained")
lacks, unknown = codes - explained, {code for code in explained if "/" not in code} - codes
print("without a section:", *sorted(lacks), "of no table:", *sorted(unknown))
own = set()
for path, _, names in os.walk(plugins):
    for name in names:
        if name.endswith((".c", ".h")):
            own |= set(re.findall(r'"(pto\.[a-z0-9-]+/[a-z0-9-]+)"', open(os.path.join(path, name), encoding="utf-8").read()))
own -= explained
print("codes of plugins without a section:", *sorted(own))
sys.exit(bad != 0 or len(codes) < 200 or bool(lacks or unknown or own))
END
/usr/bin/python3 -B examples.py "$TEST_SHARE" "$TEST_ROOT/docs/errors" "$TEST_ROOT/plugins" "$TEST_ROOT"/*/diag.def "$TEST_ROOT"/*/base/diag.def || fail 'docs/errors'

# The sentence, and what reports it.
ends 0 pto-inspect errors E1406
says '^E1406 .*a .npy file has bytes after its elements$' out
says '^    reported by      the reader of tensor files$' out
ends 0 pto-inspect errors pto.fuse/what
says '^pto.fuse/what .*is not explained' out
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
