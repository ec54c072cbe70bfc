# What two compilers make of parts of a text has the bits of what one makes of all of it.
. "$TEST_ROOT/tests/shell.sh"
run() { # run NAME PREFIX..
  name=$1
  shift
  ends 0 "$@" pto-run "$TEST_ROOT/examples/attention/attention.ptir" --pipeline=native.yaml --machine=cpu-avx2 \
    --random-inputs=1 --sym=B=1 --sym=S=40 --sym=T=48 --set=backend.with.cache=false --out "y=$name.npy"
}
run parts
run whole taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')"
cmp parts.npy whole.npy || fail
