# compile_each.sh, read by `.`: native_each FILE OBJECT.. compiles inputs/FILE.c with $native_includes for each width,
# ISA and compiler, links it with the objects, runs what this host can run, and compares what was printed: `first` has
# the output of the first, which is $native_first, `measured` what it said on standard error. Later ones run with
# `bits`, which have to be those of the first.
# shellcheck shell=sh disable=SC2034,SC2154
. "$TEST_ROOT/tests/shell.sh"

native_includes=

host_has() {
  for flag in $1; do grep -qw "$flag" /proc/cpuinfo || return 1; done
}

# one NAME FEATURES COMPILER "FLAGS.." ARGUMENT..
one() {
  native_name=$1 native_features=$2 native_compiler=$3 native_flags=$4
  shift 4
  command -v "$native_compiler" >/dev/null || { echo "not seen: $native_name, there is no $native_compiler"; return; }
  # shellcheck disable=SC2086
  ends 0 ${CMAKE_C_COMPILER_LAUNCHER:-} "$native_compiler" -std=c17 -O2 -ffp-contract=off -Wall -Wextra -Werror $native_flags \
    $native_includes -I "$TEST_ROOT/sdk/include" -c "$TEST_ROOT/tests/native/inputs/$native_file.c" -o "$native_name.o"
  ends 0 "$native_compiler" "$native_name.o" "$@" -lm -o "$native_name"
  host_has "$native_features" || { echo "compiled only: $native_name, this host lacks one of: $native_features"; return; }
  if [ ! -s first ]; then
    ends 0 "./$native_name"
    [ -s out ] || fail "$native_name says nothing"
    native_first=./$native_name
    mv out first
    mv text measured
    return
  fi
  "./$native_name" bits >"$native_name.txt" 2>errors || { cat "$native_name.txt"; fail "$native_name"; }
  diff first "$native_name.txt" || fail "$native_name differs from the first"
}

native_each() {
  native_file=$1
  shift
  case $(uname -m) in
  x86_64)
    one sse2 "" gcc "-DPTO_VECTOR_BYTES=16 -O1" "$@"
    one sse41-fma "sse4_1 fma" gcc "-msse4.1 -mfma" "$@"
    one avx2 "avx2 fma f16c" gcc "-mavx2 -mfma -mf16c" "$@"
    one avx512f "avx512f" gcc "-mavx512f -mfma" "$@"
    one avx512 "avx512f avx512bw avx512vl avx512dq" gcc "-mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c" "$@"
    one avx512-bf16 "avx512f avx512bw avx512vl avx512dq avx512_bf16" gcc \
      "-DPTO_ROUNDS_TO_BF16 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c" "$@"
    one avx512-bf16-clang "avx512f avx512bw avx512vl avx512dq avx512_bf16" clang-19 \
      "-DPTO_ROUNDS_TO_BF16 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c" "$@"
    one avx512-clang "avx512f avx512bw avx512vl avx512dq" clang-19 "-mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c" "$@"
    one avx2-clang "avx2 fma f16c" clang-19 "-mavx2 -mfma -mf16c" "$@"
    # Of Debian 12: it has few of the generic functions of vectors, and no longer those of each ISA that they replace.
    one avx512-clang-14 "avx512f avx512bw avx512vl avx512dq" clang-14 "-mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c" "$@"
    one avx2-clang-14 "avx2 fma f16c" clang-14 "-mavx2 -mfma -mf16c" "$@"
    one sse41-fma-clang-14 "sse4_1 fma" clang-14 "-msse4.1 -mfma" "$@"
    ;;
  *) one host "" cc "-DPTO_VECTOR_BYTES=16" "$@" ;;
  esac
}
