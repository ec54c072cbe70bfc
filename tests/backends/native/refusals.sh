# What native code cannot be made of.
. "$TEST_ROOT/tests/shell.sh"
negation >f.ptir

# Source text that no generator of the pipeline writes.
fails 2 'pto-opt: error: \[E1714\] `-o f.c` asks for a code generator, and the pipeline has none that writes `.c` files' \
  pto-opt f.ptir --pipeline=default.yaml -o f.c
says 'note: a backend names one in its options'
fails 2 '\[E1714\]' pto-opt f.ptir -o f.c
[ ! -e f.c ] || fail 'a refused run left f.c'

# A module that is not at the level yet.
fails 5 'f.ptir:2:8: error: \[pto.emit-c/unsupported\] `tensor.neg` has no C yet: this generator does not know it' \
  pto-opt f.ptir --pipeline=native.yaml --until=canonicalize -o f.c
[ ! -e f.c ] || fail 'a refused run left f.c'

# A function that is still called.
fails 5 'attention.ptir:3:8: error: \[pto.native-bind/unsupported\] `call` cannot become native code: what it calls takes its place: by pto.inline, or by pto.inline-nests where' \
  pto-opt "$TEST_ROOT/examples/attention/attention.ptir" --pipeline=native.yaml --remove=inline-nests -o f.c

# Instructions of a chip.
pto-opt f.ptir --pipeline=default.yaml --until=select >selected.ptir || fail
fails 5 'error: \[pto.native-bind/unsupported\] `block.buffer` cannot become native code: it is in the form of instructions' \
  pto-opt selected.ptir --pipeline=native.yaml --from=native-bind --machine=ascend-910b.yaml

# What only a run can tell.
cat >take.ptir <<'END'
func @take(%x: tensor<8 x f32>, %i: tensor<4 x i32>) -> tensor<4 x f32> {
  %y = tensor.gather %x, %i {axis = 0} : tensor<4 x f32>
  return %y
}
END
npy x.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }" "$(printf '\\000%.0s' $(seq 32))"
npy i.npy "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }" '\001\0\0\0\002\0\0\0\011\0\0\0\0\0\0\0'
fails 5 'error: \[pto.native/fault\] ' pto-run take.ptir --pipeline=native.yaml --in=x=x.npy --in=i=i.npy
ends 0 pto-run f.ptir --pipeline=native.yaml --random-inputs=1

# Arguments of another shape or type.
npy short.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" '\0\0\0\0\0\0\0\0\0\0\0\0'
refuses 4 'short.npy: error: [E1602] dim 0 of `x` must be 4, the file has 3' pto-run f.ptir --pipeline=native.yaml --in=x=short.npy
refuses 4 'i.npy: error: [E1603] `x` needs elements of type f32, the file has <i4' pto-run f.ptir --pipeline=native.yaml --in=x=i.npy
npy flat.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
refuses 4 'flat.npy: error: [E1603] `x` needs rank 1, the file has rank 2' pto-run f.ptir --pipeline=native.yaml --in=x=flat.npy
