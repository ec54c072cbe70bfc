# Which decisions are refused, and how.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/schedule/inputs/pins.sh"
pin @softmax/softmax_0 tile '{ rows: 256, columns: 512 }'
ends 2 $compile "$softmax" --schedule=p.yaml
says 'p.yaml:3:5: error: \[E1804\] the pinned tile rows = 256, columns = 512 needs 2622464 bytes of `vec`, which has 188416'
says 'p.yaml:3:5: note: the largest legal size, the others left alone, is 18 for rows, or 40 for columns'
pin @softmax/softmax_0 tile '{ rows: 18, columns: 512 }'
ends 0 $compile "$softmax" --schedule=p.yaml
pin @softmax/softmax_0 tile '{ rows: 65536, columns: 65536 }'
ends 2 $compile "$softmax" --schedule=p.yaml
says 'note: no smaller size of one dim alone fits; make several smaller'
pin @softmax/softmax_0 cores 49
ends 2 $compile "$softmax" --schedule=p.yaml
says 'p.yaml:5:12: error: \[E1804\] `cores` of @softmax/softmax_0 is 49; the largest legal value is 48'
pin @softmax/softmax_0 cores 0
ends 2 $compile "$softmax" --schedule=p.yaml
says 'error: \[E1804\] `cores` of @softmax/softmax_0 is 0; the least legal value is 1'
pin @gemm/gemm_0 tile '{ m: 100, n: 128, k: 64 }'
ends 2 $compile "$gemm" --schedule=p.yaml
says 'error: \[E1804\] the pinned tile has m = 100, which must be a multiple of 16, or cover the whole extent'
pin @softmax/softmax_0 tile '{ rows: 8 }'
ends 2 $compile "$softmax" --schedule=p.yaml
says 'p.yaml:5:12: error: \[E1803\] `tile` of @softmax/softmax_0 lacks `columns`: a pinned decision says all of its values'
grep -q 'takes [0-9]* bytes' text && fail "sizes of tiles that nobody asked for"
pin @softmax/tx stages 8
ends 2 $compile "$softmax" --schedule=p.yaml --set 'tile.with.strategy={ use: pto.tiling-manual, with: { rows: 32, columns: 256 } }'
says 'error: \[pto.pipeline/does-not-fit\] %tx rotates through 8 buffers, and then the nest needs '
says 'bytes of `vec`, which has 188416; pin fewer, or smaller tiles'
says 'p.yaml:3:5: note: the schedule pins it here'
says "in step \`pipeline\`"
