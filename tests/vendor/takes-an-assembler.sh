# assembler.py runs the program that the user has over the text of examples, and says so where there is none.
. "$TEST_ROOT/tests/shell.sh"
assembler() { /usr/bin/python3 -B "$TEST_ROOT/tests/vendor/assembler.py" "$TEST_BUILD" "$@"; }
for none in '' /nowhere/ptoas .; do
  status=0
  assembler $none >out 2>text || status=$?
  [ "$status" -eq 77 ] || fail "status $status"
  says_line 'assembler.py: skipped: no assembler; assembler.py BUILD PTOAS, where PTOAS is the program `ptoas`' out
done
for none in '' /nowhere/ptoas .; do
  status=0
  /usr/bin/python3 -B "$TEST_ROOT/tests/vendor/assembler_sync.py" "$TEST_BUILD" $none >out 2>text || status=$?
  [ "$status" -eq 77 ] || fail "status $status"
  says_line 'assembler_sync.py: skipped: no assembler; assembler_sync.py BUILD PTOAS, where PTOAS is the program `ptoas`' out
done

# One that takes files without addresses alone.
cat >ptoas <<'EOF'
#!/bin/sh
echo "$@" >>asked
! grep -q 'addr =' "$1" || { echo "$1:7:3: error: 'pto.alloc_tile' op has %t at an address" >&2; exit 1; }
cp "$1" "$3"
EOF
chmod +x ptoas
status=0
assembler ./ptoas softmax/softmax >out 2>text || status=$?
[ "$status" -eq 1 ] || fail "status $status"
says "^refused: softmax/softmax.ptir, level 3, kernel_softmax_0.pto: 'pto.alloc_tile' op has %t at an address$" out
says '^| 3 | 0 | accepted |$' out
says '^| 2 | 1 | accepted |$' out
says "^| 3 | 1 | 'pto.alloc_tile' op has %_ at an address |$" out
says_line '1 passed, 1 failed' out
says 'kernel_softmax_0.pto.cpp --pto-arch=a3 --pto-level=level3$' asked
says 'kernel_softmax_0.pto.cpp --pto-arch=a3 --pto-level=level2 --enable-insert-sync$' asked
status=0
assembler ./ptoas topk --machine=ascend-950.yaml --arguments=--all >out 2>text || status=$?
says '^not written: topk/topk.ptir, level 2: \[pto.emit-ascend/unsupported\] `block.tile`' out
status=0
assembler ./ptoas nothing-of-the-kind >out 2>text || status=$?
[ "$status" -eq 1 ] || fail "status $status"
says '^assembler.py: no example has such a name$'
