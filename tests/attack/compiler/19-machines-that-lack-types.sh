# A machine that has an instruction in fewer element types: what is made after types were made legal asks it too. The
# kernel compiles, through a type that the machine has, or is refused at the user's op; no pass is blamed.
. "$TEST_ROOT/tests/shell.sh"
machines=$TEST_ROOT/pipelines/machines
lacks() { # INSTRUCTION TYPES..: mach.yaml, where the instructions have those alone
  cp "$machines/ascend-910b.yaml" mach.yaml
  while [ $# -gt 0 ]; do
    cp mach.yaml before.yaml
    sed -E "s/^(  $1: \{ [^}]*[0-9])(, dtypes: \[[^]]*\])? \}/\1, dtypes: [$2] }/" before.yaml >mach.yaml
    ! cmp -s mach.yaml before.yaml || complain "no $1"
    shift 2
  done
}
kernel() { # OP TYPE
  printf 'func @f(%%x: tensor<$B x 40 x %s>) -> tensor<$B x 40 x %s> {\n  %%y = tensor.%s %%x : tensor<$B x 40 x %s>\n  return %%y\n}\n' "$2" "$2" "$1" "$2" >k.ptir
}
runs() { # WHAT
  if ! pto-run k.ptir --sym B=35 --machine=./mach.yaml --random-inputs=3 --compare=reference.yaml >out 2>&1 || grep -q DIFFERS out; then
    complain "$1"
  fi
}
refused() { # WHAT TEXT
  pto-opt k.ptir --pipeline=default.yaml --machine=./mach.yaml -o o.ptir >out 2>&1
  status=$?
  if [ $status -ne 5 ] || ! head -n 1 out | grep -Fqx "k.ptir:2:8: error: $2"; then
    complain "$1: $status"
  fi
}
lacks div f16
kernel tanh f32
refused "tanh without div" '[pto.expand-math/no-type] `tensor.tanh` in f32 becomes several ops, and the machine has one of them, `tensor.div`, in f16 and not in f32: write the function in the source with ops and types that the machine has [@f/y]'
lacks div f16 relu i32
kernel relu f16
runs "relu of f16 without div in f32"
lacks exp f16
kernel sigmoid f16
refused "sigmoid without exp" '[pto.expand-math/no-type] `tensor.sigmoid` in f32 becomes several ops, and the machine has one of them, `tensor.exp`, in f16 and not in f32: write the function in the source with ops and types that the machine has [@f/y_wide]'
lacks div f32 relu i32
kernel relu f16
runs "relu of f16, guarded in f32"
lacks abs f32 relu i32
runs "relu of f16, guarded in f32 for want of abs"
lacks maxs i32 relu i32
kernel relu f32
refused "relu without relu and maxs" '[pto.select/no-instruction] the machine has no `pto.tmaxs` in f32, only in i32: compute in one of these [@f_0/ty_number]'
sed 's/^    f16: \[f32, /    f16: [/' "$machines/ascend-910b.yaml" >mach.yaml
printf 'func @f(%%x: tensor<$B x 40 x f16>) -> tensor<$B x 1 x f16> {\n  %%y = tensor.reduce_max %%x {axis = 1} : tensor<$B x 1 x f16>\n  return %%y\n}\n' >k.ptir
refused "a guard that is summed in f32" '[pto.expand-math/no-type] `tensor.reduce_max` in f16 becomes several ops, and the machine converts f16 to i32,i16,i8,u8,bool and not to f32: write the function in the source with ops and types that the machine has [@f/y]'
sed 's/^    f16: \[.*/    f16: []/' "$machines/ascend-910b.yaml" >mach.yaml
refused "a guard without any conversion" '[pto.expand-math/no-type] `tensor.reduce_max` in f16 becomes several ops, and the machine converts f16 to nothing: write the function in the source with ops and types that the machine has [@f/y]'
# A vector unit with bf16, whose functions stay f32.
sed 's/^  dtypes: \[f32, f16, i32, i16\]/  dtypes: [f32, f16, i32, i16, bf16]/' "$machines/ascend-910b.yaml" >mach.yaml
kernel relu bf16
runs "relu of bf16"
# The vector unit does not have bf16, so that a broadcast adds in f32.
cp "$machines/ascend-910b.yaml" mach.yaml
printf 'func @f(%%x: tensor<$B x 1 x bf16>) -> tensor<$B x 40 x bf16> {\n  %%y = tensor.broadcast %%x : tensor<$B x 40 x bf16>\n  return %%y\n}\n' >k.ptir
runs "broadcast of bf16"

# Any type taken away anywhere; `tests/fuzz/machine_types.py` alone tries all.
count=80
if is_sanitized; then count=16; fi
for machine in ascend-910b cpu-generic; do
  /usr/bin/python3 "$TEST_ROOT/tests/fuzz/machine_types.py" --machine "$machines/$machine.yaml" --count $count --seed 7 --keep . >out || complain
done
