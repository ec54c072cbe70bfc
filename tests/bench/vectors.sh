# vectors.sh BUILD: functions of vectors that emitted C uses, beside glibc's, on this host's ISA and on AVX2.
set -u
here=$(dirname "$0")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
for isa in native x86-64-v3; do
  gcc -std=gnu17 -O3 -ffast-math "-march=$isa" -c "$here/vector_peer.c" -o "$work/peer.o" &&
    gcc -std=gnu17 -O2 -ffp-contract=off "-march=$isa" -I "$here/../../sdk/include" "$here/vector_rates.c" "$work/peer.o" \
      -lmvec -lm -o "$work/rates" && echo "-march=$isa" && "$work/rates" || exit 1
done
