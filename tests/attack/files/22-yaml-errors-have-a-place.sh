# What a YAML file names and what cannot be read is an error at the line and column that name it.
. "$TEST_ROOT/tests/shell.sh"

mkdir folder
for name in '' . / ./folder/ folder; do
  why="[E1501] cannot read the WHAT file \`$name\`: Is a directory"
  [ -n "$name" ] || why="[E1108] cannot find the WHAT file \`\`"
  printf "pto-pipeline: 1\nextends: '%s'\n" "$name" >p.yaml
  refuses 2 "p.yaml:2:10: error: $(echo "$why" | sed s/WHAT/pipeline/)" pto-opt --pipeline=p.yaml
  printf "pto-pipeline: 1\npasses: []\nmachine: '%s'\n" "$name" >p.yaml
  refuses 2 "p.yaml:3:10: error: $(echo "$why" | sed s/WHAT/machine/)" pto-opt --pipeline=p.yaml
done
refuses 2 '<command line>:1:1: error: [E1501] cannot read the machine file `folder`: Is a directory' pto-opt --passes=pto.fuse --machine=folder
refuses 2 'error: [E1501] cannot read `folder`: Is a directory' pto-opt --pipeline=folder

given() { # KEY VALUE: case.yaml with another value
  cat >case.yaml <<'END'
pto-case: 1
name: c
module: m.ptir
data: make.py
sizes: { small: { N: 4 } }
inputs: { x: x.npy }
outputs: { y: { expect: y.npy, magnitude: m.npy, rule: f32-reduce } }
END
  [ $# -eq 0 ] || sed -i "s|$1: [a-z.]*|$1: $2|" case.yaml
}
printf 'func @f(%%x: tensor<$N x f32>) -> tensor<$N x f32> {\n  %%y = tensor.neg %%x : tensor<$N x f32>\n  return %%y\n}\n' >m.ptir
cat >make.py <<'END'
import sys
for name in "x", "y", "m":
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }".ljust(117) + "\n"
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as out:
        out.write(b"\x93NUMPY\1\0\x76\0" + header.encode() + bytes(16))
END
run="pto-run --case case.yaml --backend=pto.reference --data-dir=data"
given
$run >out.txt 2>text || fail "the case itself"
given module absent.ptir
refuses 2 'case.yaml:3:9: error: [E1501] cannot read the module `absent.ptir`: No such file or directory' $run
given data folder
refuses 2 'case.yaml:4:7: error: [E1501] cannot read the data program `folder`: Is a directory' $run
given x absent.npy
refuses 2 'case.yaml:6:14: error: [E1501] cannot read the tensor file `data/absent.npy`: No such file or directory' $run
given expect absent.npy
refuses 2 'case.yaml:7:25: error: [E1501] cannot read the tensor file `data/absent.npy`: No such file or directory' $run
given magnitude absent.npy
refuses 2 'case.yaml:7:43: error: [E1501] cannot read the tensor file `data/absent.npy`: No such file or directory' $run
echo no tensor >data/bad.npy
given x bad.npy
$run >out.txt 2>text
[ $? -eq 4 ] && grep -q '^data/bad.npy: error: \[E1401\]' text && grep -qx 'case.yaml:6:14: note: the case names it here' text || fail bad.npy
