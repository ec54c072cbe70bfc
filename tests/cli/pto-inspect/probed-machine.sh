# `machine --probe` writes a machine file of this host that compiles programs, the same except for what is measured.
. "$TEST_ROOT/tests/shell.sh"
probe() {
  file=$1
  shift
  ends 0 pto-inspect machine --probe -o "$file" "$@"
  [ ! -s text ] || fail "words on standard error"
}
line() { says_line "$1" "$2"; }

probe one.yaml
probe two.yaml
sed '/# measured/d' one.yaml >one
sed '/# measured/d' two.yaml >two
diff one two || fail 'two runs differ in what is not measured'
[ "$(grep -c '# measured' one.yaml)" -ge 12 ] || fail 'little is measured'
line 'name: cpu-host  # this host' one.yaml
says '^clock-hz: [1-9][0-9]\{1,2\}0000000  # measured$' one.yaml
says '^  repeat-bytes: \(16\|32\|64\)  # found: by CPUID$' one.yaml
line 'paths:  # own, except for bytes a cycle that a line says are measured' one.yaml
line 'matrix:  # own; cycles are those of this host' one.yaml
# Types with an instruction of their own are not said to be widened.
cycles() { # TYPE
  sed -n "s/^  cycles-per-box: {.* $1: \([0-9]*\).*}  # measured: f32.*/\1/p" one.yaml
}
! grep -qw avx512_vnni /proc/cpuinfo || [ "$(cycles i8)" -lt "$(cycles f16)" ] || fail 'the instruction for i8 was not measured'
[ "$(cycles bf16)" -le "$(cycles f16)" ] || fail 'bf16 takes longer than to widen it'
cat >softmax.ptir <<'END'
func @f(%x: tensor<8 x 300 x f32>) -> tensor<8 x 300 x f32> {
  %y = tensor.softmax %x : tensor<8 x 300 x f32>
  return %y
}
END
ends 0 pto-opt softmax.ptir --pipeline=default.yaml --machine=./one.yaml --until=outline
says 'kernel' out

# It is a machine of pto.native, with its peaks, here and where PTO_PIPELINE_PATH says.
mkdir -p kept/machines
cp one.yaml kept/machines/cpu-host.yaml
for machine in one.yaml kept/machines/cpu-host.yaml; do
  ends 0 env "XDG_CACHE_HOME=$PWD" pto-run softmax.ptir --pipeline=native.yaml --machine="$machine" --random-inputs=1
  says '^memory: .* GB/s, .* % of .* GB/s of cpu-host; 19200 bytes$' out
done
ends 0 env "XDG_CACHE_HOME=$PWD" "PTO_PIPELINE_PATH=$PWD/kept" pto-run softmax.ptir --pipeline=native.yaml --machine=cpu-host.yaml --random-inputs=1

# What the kernel's files say of caches; a kernel without them, and files that say nonsense.
cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
put() { # CACHE LEVEL TYPE SIZE
  mkdir -p "files/cpu$cpu/cache/index$1"
  echo "$2" >"files/cpu$cpu/cache/index$1/level"
  echo "$3" >"files/cpu$cpu/cache/index$1/type"
  echo "$4" >"files/cpu$cpu/cache/index$1/size"
}
put 0 1 Instruction 16K
put 1 1 Data 48K
put 2 2 Unified 2M
probe given.yaml --cpu-files=files
says "^  vec: { core: cpu, bytes: 10485760, .*}  # found: the kernel's files about caches$" given.yaml
says "^  mat: { core: cpu, bytes: 33554432, .*}  # found: the kernel's files about caches$" given.yaml
put 1 1 Data many
put 2 2 Unified 0K
probe nonsense.yaml --cpu-files=files
mkdir empty
probe none.yaml --cpu-files=empty
for file in nonsense.yaml none.yaml; do
  says '^  vec: { .*}  # \(found: what the C library says\|assumed: nothing says\)' $file
  says '^  mat: { .*}  # \(found: what the C library says\|assumed: nothing says\)' $file
done

refuses 2 'pto-inspect: error: [E1504] `machine` is this host, and needs --probe; `machines` are those that ship' pto-inspect machine
refuses 2 'pto-inspect: error: [E1504] --probe is for `machine`, and has no effect on `ops`' pto-inspect ops --probe
refuses 2 'pto-inspect: error: [E1504] `machine` is this host, it takes no name: `x`' pto-inspect machine x --probe
for path in no-such-folder one.yaml; do
  refuses 2 "$path: error: [E1501] --cpu-files names a folder, and this is none" pto-inspect machine --probe --cpu-files=$path
done
refuses 2 'pto-inspect: error: [E1504] option `--cpu-files` has no effect without --probe' pto-inspect machines --cpu-files=x
# That is said before the host is measured, or what it would be measured with is looked at.
refuses 74 'no/host.yaml: error: [E1501] cannot create: No such file or directory' pto-inspect machine x --probe -o no/host.yaml
says_line 'note: its folder is not there: `mkdir -p no/` makes it'
! grep -q 'takes no name' text || fail 'measured first'

# Of a file of its ISA that lacks a line the probe takes nothing.
mkdir -p own/machines
for isa in avx2 avx512; do
  sed '/^  repeat-bytes:/d' "$TEST_ROOT/pipelines/machines/cpu-$isa.yaml" >"own/machines/cpu-$isa.yaml"
done
ends 2 env "PTO_PIPELINE_PATH=$PWD/own" pto-inspect machine --probe
says 'own/machines/cpu-avx[0-9]*.yaml: error: \[E1504\] a line `  repeat-bytes:..` with `repeat-bytes: ` is needed, and not there$'
[ ! -s out ] || fail 'a part was written'
# Nor does it begin without one.
mkdir -p elsewhere/bin
cp "$(command -v pto-inspect)" elsewhere/bin/
ends 2 elsewhere/bin/pto-inspect machine --probe
says '^pto-inspect: error: \[E1504\] there is no `machines/cpu-avx[0-9]*.yaml`, of which the probe takes the rest$'
# Any subject goes to a file.
ends 0 pto-inspect machines -o machines.txt
[ ! -s out ] && says '^ascend-910b ' machines.txt
