# The number of threads, and whether the cache had the module, change no bit.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
for program in softmax rms_norm gemm; do
  example "$program/case"
  symbols='--sym=B=3'
  [ "$program" = softmax ] || symbols='--sym=M=37 --sym=N=300'
  [ "$program" != gemm ] || symbols='--sym=M=37 --sym=N=300 --sym=K=70'
  for threads in 1 2 5; do
    # shellcheck disable=SC2086
    ends 0 pto-run "$module" --pipeline=native.yaml --random-inputs=3 $symbols "--set=backend.with.threads=$threads" "--out=$output=$threads.npy"
    cmp -s 1.npy "$threads.npy" || fail "$program with $threads threads"
  done
done
