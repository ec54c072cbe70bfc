# A weight that cannot be packed stays, and a remark says why. Pins pack what would stay and the other way round, or are
# refused with the reason.
. "$TEST_ROOT/tests/shell.sh"
kernel() { # TYPE-OF-W RIGHT MORE-OF-PRODUCT MORE-OPS MORE-OF-FUNCTION MORE-LAUNCHES
  cat >w.ptir <<END
module {machine = "cpu-avx2"} {
  block.kernel @k core(any) grid(%i: 2) reads(%a, %w) writes(%y) (%a: gm<16 x 64 x f32>, %w: gm<$1>, out %y: gm<16 x 64 x f32>) {
    %z = tile.zero_acc valid(16, 32) : tile<16 x 32 x f32, acc, nz>
    %c = tile.contract %z, %a[0, 0], %w[$2] depth(64)$3 : tile<16 x 32 x f32, acc, nz>
    tile.store %c, %y[0, 32 * %i]
    $4
  }
  func @f(%a: gm<16 x 64 x f32>, const %w: gm<64 x 64 x f32>, out %y: gm<16 x 64 x f32>$5) {
    block.launch @k args(%a, %w, %y)
    $6
    return
  }
}
END
}
layouts='pto-opt w.ptir --passes=pto.native-layout'
left() { # WHY
  ends 0 $layouts --remarks=-
  says "pto.native-layout/left\] reads %w as it lies: $1"
  ! grep -q 'panels' out || fail 'it was packed'
}
w='64 x 64 x f32'
kernel "$w" '0, 32 * %i' '' '' '' ''
ends 0 $layouts --remarks=- --emit-schedule=s.yaml
says 'pto.native-layout/packed'
says 'value: panels' s.yaml
pin_all s.yaml | sed 's/value: panels/value: as-is/' >as-is.yaml
ends 0 $layouts --schedule=as-is.yaml
! grep -q panels out || fail 'it was packed'
ends 0 pto-opt w.ptir --passes='pto.native-layout{gain=0.5}' --remarks=-
says 'reads %w as it lies: packing it in each run is 43 % of the time of a product of 16 rows'
pin_all s.yaml >panels.yaml
ends 0 pto-opt w.ptir --passes='pto.native-layout{gain=0.5,columns=32}' --schedule=panels.yaml
says 'panels = 32' out
for columns in 15,16 33,48 241,256; do
  refuses 5 "<command line>:1:1: error: [pto.native-layout/columns] option \`columns\` is ${columns%,*}, and panels have a multiple of 16 columns; the next one is ${columns#*,}" \
    pto-opt w.ptir --passes="pto.native-layout{columns=${columns%,*}}"
done

kernel "$w" '0, 8 + 24 * %i' '' '' '' ''
left 'a block of columns does not begin with a panel'
fails 2 'a block of columns does not begin with a panel' $layouts --schedule=panels.yaml
kernel "$w" '0, 32 * %i' '' '%t = tile.load %w[0, 0] size(1, 64) : tile<16 x 64 x f32, vec, nd>' '' ''
left 'something else than a product reads it'
kernel "$w" '0, 32 * %i' '' '%d = tile.contract %z, %a[0, 0], %w[32 * %i, 0] depth(64) {transpose_right = true} : tile<16 x 32 x f32, acc, nz>' '' ''
left 'products read it both ways'
kernel "$w" '0, 32 * %i' '' '' ', %x: gm<64 x 64 x f32>, out %y1: gm<16 x 64 x f32>' 'block.launch @k args(%a, %x, %y1)'
left 'its kernel is launched with other memory, too'
kernel "\$K x 64 x f32" '0, 32 * %i' '' '' '' ''
sed -i 's/const %w: gm<64 x/const %w: gm<$K x/' w.ptir
left 'it alone says in a kernel what one of its extents is'
kernel "$w" '0, 32 * %i' '' '' '' ''
sed -i 's/  func @f(/  func @f.init(const %g: gm<64 x f32>, out %h: gm<64 x f32>) {outputs = ["h"]} {\n    return\n  }\n&const %h: gm<64 x f32>, /' w.ptir
left 'there is an @f.init already, to which nothing is added'
# Two rows of f32 read panels faster on any machine.
kernel "$w" '0, 32 * %i' '' '' '' ''
sed -i 's/valid(16, 32)/valid(2, 32)/' w.ptir
ends 0 $layouts --remarks=-
says 'pto.native-layout/packed\] reads %w in panels of 16 columns, .*: reading it out of order is 10 % of the time of a product of 2 rows'
