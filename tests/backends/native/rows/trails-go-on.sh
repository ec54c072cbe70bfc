# A sweep that trails goes on from one trip of a loop to the next where the loop runs nothing else, and ends with the
# trip where something else is in it that comes before, after or between: numbers are those of the oracle in both cases.
. "$TEST_ROOT/tests/shell.sh"
program() { # program NAME: where it ends, by whether its variables are declared in the loop
  size='size(4, 512)' carry='' before='' extra='' after='' yields='' sums='%m[20 * %i + 4 * %t, 0]' last=%p
  case $1 in
  alone) ;;
  constant) before='%n = constant {value = 3.0} : f32' extra='%l = tile.muls %p, %n : tile<4 x 512 x f32, vec, nd>' last=%l ;;
  # A number of the loop, for the rows that trail and for those that do not.
  number) before='%n = index_cast from(%t) : f32' extra='%l = tile.muls %p, %n : tile<4 x 512 x f32, vec, nd>' last=%l ;;
  other-number) before='%n = index_cast from(%t) : f32' sums='' after='%r = tile.adds %a, %n : tile<4 x 512 x f32, vec, nd>
    %o = tile.rowmax %r : tile<4 x 1 x f32, vec, dn>
    tile.store %o, %m[20 * %i + 4 * %t, 0]' ;;
  # A row that is stored at once beside the one that trails.
  beside) extra='tile.store %e, %y[20 * %i + 4 * %t, 512]' ;;
  # Rows of another length in each trip.
  length) size='size(4, 507 + %t)' ;;
  carried) carry='carry(%c = %ones) ' yields='%d = tile.adds %c, %one : tile<4 x 1 x f32, vec, dn>
    tile.store %d, %m[20 * %i + 4 * %t, 0]
    yield %d' sums='' ;;
  esac
  [ -z "$sums" ] || sums="tile.store %s, $sums"
  result='' type=''
  [ "$1" != carried ] || result='%all = ' type=' : tile<4 x 1 x f32, vec, dn>'
  cat <<END
block.kernel @k core(any) grid(%i: 2) reads(%x, %y, %m) writes(%y, %m) (%x: gm<40 x 1024 x f32>, inout %y: gm<40 x 1024 x f32>, inout %m: gm<40 x 1 x f32>) {
  %one = constant {value = 1.0} : f32
  %ones = tile.fill %one valid(4, 1) : tile<4 x 1 x f32, vec, dn>
  ${result}for %t to 5 ${carry}{
    %a = tile.load %x[20 * %i + 4 * %t, 0] $size : tile<4 x 512 x f32, vec, nd>
    $before
    tile.fused {
      %e = tile.exp %a : tile<4 x 512 x f32, vec, nd>
      %s = tile.rowsum %e : tile<4 x 1 x f32, vec, dn>
      $sums
      %p = tile.rowexpanddiv %e, %s : tile<4 x 512 x f32, vec, nd>
      $extra
      tile.store $last, %y[20 * %i + 4 * %t, 0]
    }
    $after
    $yields
  }$type
}
func @f(%x: gm<40 x 1024 x f32>, inout %y: gm<40 x 1024 x f32>, inout %m: gm<40 x 1 x f32>) {
  block.launch @k args(%x, %y, %m)
  return
}
END
}
for name in alone constant number other-number beside length carried; do
  program "$name" >f.ptir
  ends 0 pto-opt f.ptir --pipeline=native.yaml --from=native-bind -o f.c
  depth=$(sed -n 's/^\( *\)float \*[a-z0-9_]*before_ = NULL;$/\1/p' f.c | wc -c)
  expected=9
  case $name in alone | constant) expected=5 ;; esac
  [ "$depth" = "$expected" ] || fail "$name: it is declared at $depth"
  for threads in 1 2; do
    ends 0 pto-run f.ptir --pipeline=native.yaml --from=native-bind --random-inputs=3 "--set=backend.with.threads=$threads" \
      "--out=y=native-y$threads.npy" "--out=m=native-m$threads.npy"
  done
  ends 0 pto-run f.ptir --pipeline=native.yaml --from=native-bind --backend=pto.reference --random-inputs=3 \
    --out=y=y.npy --out=m=m.npy
  /usr/bin/python3 - <<'END' || fail "$name: other numbers"
import numpy as np
for n in "ym":
    want = np.load(f"{n}.npy")
    assert n == "m" or np.isfinite(want).all() and want.any()
    for threads in 1, 2:
        np.testing.assert_allclose(np.load(f"native-{n}{threads}.npy"), want, rtol=2e-6)
END
done
