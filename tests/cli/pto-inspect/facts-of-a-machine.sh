# `pto-inspect machines NAME` lists what instructions and pipes of the chip do beyond what they mean.
. "$TEST_ROOT/tests/shell.sh"
ends 0 pto-inspect machines ascend-910b
says '^    fact  *trecip: in-place false$' out
says '^    fact  *trowsum: events v-s-0 s-v-0, event-dtypes i32 i16, row-major true$' out
says '^    barrier  *v: needed$' out
ends 0 pto-inspect machines cpu-generic
! grep -q '^ *fact\|^ *barrier' out || fail 'a machine that states no facts'
