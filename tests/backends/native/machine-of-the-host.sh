# native.yaml compiles for the machine that suits the CPU, and says which: a file that ships, what the user measured, or
# a file called `host`. Schedules and modules name the machine itself, so that another host is told.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD/cache"
cat >f.ptir <<'END'
func @f(%x: tensor<8 x 300 x f32>) -> tensor<8 x 300 x f32> {
  %y = tensor.softmax %x : tensor<8 x 300 x f32>
  return %y
}
END
has() {
  for flag; do
    grep -qw "$flag" /proc/cpuinfo || return 1
  done
}
machine=cpu-generic
! has avx2 fma f16c || machine=cpu-avx2
! { [ $machine = cpu-avx2 ] && has avx512f avx512bw avx512vl avx512dq; } || machine=cpu-avx512
! { [ $machine = cpu-avx512 ] && has amx_tile amx_bf16 amx_int8; } || machine=cpu-amx

compile() { ends 0 pto-opt f.ptir --pipeline=native.yaml --remarks=- --emit-schedule=s.yaml -o f.c "$@"; }
stands_for_nothing() {
  if grep -q E1114 text; then fail 'a name stands for a machine'; fi
}
compile
says "native.yaml:5:10: remark: \[E1114\] the machine .host. is .*/machines/$machine.yaml., by the instructions that this CPU has$"
says_line "machine: $machine" s.yaml
ends 0 pto-opt f.ptir --pipeline=native.yaml --print-pipeline
says "^machine: \"/.*/$machine.yaml\"  # .*/native.yaml:5$" out
ends 0 pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --report=report
says "^memory: .* of $machine; " out
says "$machine" report/index.html

ends 0 pto-inspect machines host
says "^ *file  *.*/machines/$machine.yaml$" out

# The command line takes another one, whose schedule this host refuses.
compile --machine=cpu-generic
stands_for_nothing
says_line 'machine: cpu-generic' s.yaml
if [ $machine != cpu-generic ]; then
  fails 2 '^s.yaml:2:.*error: \[E1805\] .*cpu-generic.*'"$machine" pto-opt f.ptir --pipeline=native.yaml --schedule=s.yaml
  ends 0 pto-opt f.ptir --pipeline=native.yaml --machine=cpu-generic --until=outline -o outlined.ptir
  says 'machine = "cpu-generic"' outlined.ptir
  fails 2 "error: \[E1709\] .*cpu-generic.*$machine" pto-opt outlined.ptir --pipeline=native.yaml --from=native-bind
fi
fails 2 'error: \[E1108\] cannot find the machine file `hosts`' pto-opt f.ptir --pipeline=native.yaml --machine=hosts

# What was measured on this host, where the user keeps it.
mkdir -p cache/pto home/.cache/pto mine/machines
sed 's/^name: .*/name: cpu-host/' "$TEST_ROOT/pipelines/machines/cpu-generic.yaml" >cache/pto/cpu-host.yaml
compile
says "remark: \[E1114\] the machine .host. is .$PWD/cache/pto/cpu-host.yaml., which was measured on this host$"
says_line 'machine: cpu-host' s.yaml
mv cache/pto/cpu-host.yaml home/.cache/pto
ends 0 env -u XDG_CACHE_HOME HOME="$PWD/home" pto-opt f.ptir --pipeline=default.yaml --machine=host --emit-schedule=s.yaml -o lowered.ptir
says_line 'machine: cpu-host' s.yaml
echo 'pto-machine: 2' >cache/pto/cpu-host.yaml
fails 2 "^$PWD/cache/pto/cpu-host.yaml:1:.*error: " pto-opt f.ptir --pipeline=native.yaml

# A file of that name is what it says, and goes first.
sed 's/^name: .*/name: ours/' "$TEST_ROOT/pipelines/machines/cpu-avx2.yaml" >mine/machines/host.yaml
ends 0 env PTO_PIPELINE_PATH="$PWD/mine" pto-opt f.ptir --pipeline=native.yaml --remarks=- --emit-schedule=s.yaml -o f.c
stands_for_nothing
says_line 'machine: ours' s.yaml
