# `./dev vendor` takes a checkout that the user has, and says so where there is none; code that does not compile fails.
. "$TEST_ROOT/tests/shell.sh"
ends 77 "$TEST_ROOT/dev" vendor
says_line "./dev: vendor is skipped: no checkout of the vendor's tile library; ./dev vendor CHECKOUT, where it has include/pto" out
mkdir -p empty
ends 77 "$TEST_ROOT/dev" vendor empty
says 'vendor is skipped' out

vendor() { /usr/bin/python3 -B "$TEST_ROOT/tests/vendor/vendor.py" "$@"; }
status=0
vendor "$TEST_BUILD" empty >out 2>text || status=$?
[ "$status" -eq 1 ] || fail "status $status"
says 'empty is not a checkout of the vendor.s tile library: it has no include/pto$'
mkdir -p fake/include/pto
echo '#error "no library at all"' >fake/include/pto/pto-inst.hpp
status=0
vendor "$TEST_BUILD" fake nothing-of-the-kind >out 2>text || status=$?
[ "$status" -eq 1 ] || fail "status $status"
says '^vendor.py: no line of .*cases.txt has nothing-of-the-kind in its name; of other form are random:SEED:COUNT, instructions'
status=0
vendor "$TEST_BUILD" fake assembled:softmax --assembler=/nowhere/ptoas >out 2>text || status=$?
[ "$status" -eq 1 ] || fail "status $status"
says '^vendor.py: `assembled:` needs --assembler=PTOAS, the program `ptoas`$'
command -v clang++-19 >/dev/null || { echo 'no clang++-19'; exit 77; }
status=0
vendor "$TEST_BUILD" fake rms_norm/bf16 --keep=kept --page=page.md >out 2>text || status=$?
[ "$status" -eq 1 ] || fail "status $status"
says '^rms_norm/bf16.yaml small: 0 elements, compile: .*error.*' out
runs=$(grep -c '^rms_norm/bf16.yaml.*: 0 elements, ' out)
says_line "0 passed, $runs failed" out
says "^Headers: PTO ISA without history. Compiler: .*clang version 19.*. Equal bit by bit: 0 of $runs runs.\$" page.md
says '^| rms_norm/bf16.yaml | ascend-910b.yaml | one | 0 | compile: ' page.md
# A compiler that fails does so with and without sanitizers.
! is_sanitized || exit 0
status=0
vendor "$TEST_BUILD" fake random:1:1@ascend-950.yaml 'instructions:tneg' >out 2>text || status=$?
[ "$status" -eq 1 ] || fail "status $status"
says '^random 1: 0 elements, cmake\|^random 1: 0 elements, compile: ' out
says '^tneg f32: compile differ, compile: ' out
