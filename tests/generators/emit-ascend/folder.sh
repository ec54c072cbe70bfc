# `-o` with the name of a folder: what it has in it, again and again.
. "$TEST_ROOT/tests/shell.sh"
cp "$TEST_ROOT/examples/softmax/softmax.ptir" .

ends 0 pto-opt softmax.ptir --pipeline=ascend.yaml -o one/
ls one >names
cat >wanted <<'END'
CMakeLists.txt
README.md
cpu_bfloat16.cpp
cpu_stdfloat.h
host.cpp
host.h
kernel.h
kernel_softmax_0.cpp
machine.yaml
manifest.json
pipeline.yaml
run.cpp
runtime.h
schedule.yaml
END
cmp names wanted || fail 'other files'

# The same bytes each time, wherever it is; a folder that is there, and a name without suffix, are folders too.
mkdir elsewhere && cp softmax.ptir elsewhere/
(cd elsewhere && pto-opt softmax.ptir --pipeline=ascend.yaml -o two) || fail 'a name without suffix'
mkdir three && ends 0 pto-opt softmax.ptir --pipeline=ascend.yaml -o three
diff -r -x .pto-files one elsewhere/two || fail 'the same input, other bytes'
diff -r -x .pto-files one three || fail 'the same input, other bytes'

# The manifest has the digest of each file, and says what it was made with.
cat >digests.py <<'END'
import json, os
manifest = json.load(open("one/manifest.json"))
def digest(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return f"{h:016x}"
assert {f["name"] for f in manifest["files"]} == set(os.listdir("one")) - {"manifest.json", ".pto-files"}
for f in manifest["files"]:
    data = open("one/" + f["name"], "rb").read()
    assert (f["bytes"], f["fnv1a64"]) == (len(data), digest(data)), f
assert (manifest["module"], manifest["pipeline"], manifest["machine"], manifest["generator"]) == ("softmax.ptir", "ascend", "ascend-910b", "pto.emit-ascend")
END
/usr/bin/python3 -B digests.py || fail 'the manifest is wrong'

# Another pinned decision, another digest; what an earlier run left goes away, what somebody wrote stays.
sed 's/@softmax/@other/' softmax.ptir >other.ptir
ends 0 pto-opt other.ptir --pipeline=ascend.yaml -o three
[ ! -e three/kernel_softmax_0.cpp ] && [ -e three/kernel_other_0.cpp ] || fail 'a kernel of the run before is left'
! cmp -s one/manifest.json three/manifest.json || fail 'one digest for two programs'
echo '// mine' >>three/run.cpp
fails 74 'three/*: error: .*run.cpp' pto-opt other.ptir --pipeline=ascend.yaml -o three
grep -q '^// mine' three/run.cpp || fail 'a changed file was lost'

# The schedule and the pipeline in it make the same again.
cp one/machine.yaml ascend-910b.yaml
ends 0 pto-opt softmax.ptir --pipeline=one/pipeline.yaml --machine=ascend-910b.yaml --schedule=one/schedule.yaml -o four/
cmp one/kernel_softmax_0.cpp four/kernel_softmax_0.cpp || fail 'its own pipeline and schedule make another kernel'

# The other chip: what differs is in the CMakeLists.txt, and in the layouts that its machine file has.
sed 's/^arch: a3/arch: a5/' one/machine.yaml >ascend-910b.yaml
ends 0 pto-opt softmax.ptir --pipeline=ascend.yaml --machine=ascend-910b.yaml -o five/
grep -qx 'set(ARCH a5)' five/CMakeLists.txt || fail 'not for a5'
grep -q 'cores of a5, written by' five/kernel_softmax_0.cpp || fail 'not for a5'

# A name with a suffix, and standard output, are the module as ever; so is every name without a generator.
ends 0 pto-opt softmax.ptir --pipeline=ascend.yaml -o m.ptir
pto-opt softmax.ptir --pipeline=ascend.yaml >out.ptir && cmp m.ptir out.ptir || fail 'not the module'
ends 0 pto-opt softmax.ptir --pipeline=default.yaml -o plain
cmp plain out.ptir || fail 'another module than by default.yaml'
