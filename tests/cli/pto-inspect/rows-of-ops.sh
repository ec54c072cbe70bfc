# What a row says about its op is shown: level, text form, shapes, iteration space, folding, and the columns as
# they are.
. "$TEST_ROOT/tests/shell.sh"
shows() { # OP KEY VALUE
  pto-inspect ops "$1" >text 2>&1 && sed 's/^ *//; s/  */ /g' text | grep -qxF "$2 $3" || fail "$1 lacks: $2 $3"
}
shows tensor.exp level 'tensor/1'
shows tensor.exp form '%r = tensor.exp %x : type'
shows tensor.exp operands 'x: tensor'
shows tensor.exp result tensor
shows tensor.exp traits 'pure, NaN stays'
shows tensor.exp 'tile forms' tile.exp
shows tensor.sub 'tile forms' 'tile.sub, tile.subs, tile.rowexpandsub, tile.colexpandsub'
shows tensor.relu 'typed by' tile.max
shows tensor.sigmoid expansion 'min = minimum x 0; above = exp min; abs = abs x; neg = neg abs; decay = exp neg; below = add decay 1; div above below'
shows tensor.exp numerics '2 ulp'
shows tensor.exp 'iteration space' 'dims of the result, all parallel; an operand dim of extent 1 or missing in front stays at its one element'
shows tensor.add 'folds to' 'the sum of constants'
shows tensor.reduce_sum 'iteration space' 'dims of the operand; those in `axis` are reduced, the rest is parallel'
shows tile.load form '%r = tile.load %src[offsets] size(sizes) {..} : type'
shows pto.tadd level 'block/1, in kernels'
shows pto.tadd shapes 'dst, a, b: one shape, one valid region'
shows pto.trowsum scratch 'a tile like the source'
shows pto.trowsum operands 'dst: tile, a: tile, tmp: tile (last 1 optional)'
shows tile.matmul shapes 'acc (m, n), left (m, k), right (k, n), valid columns of left = valid rows of right; valid: rows of left, columns of right'
shows block.launch form 'block.launch @callee args(%arguments, ..)'
shows tensor.group form '%r, .. = tensor.group "label" { .. } : types'
shows tune step 'distance of values; default 1'
shows if blocks '1 or 2'
# Every op says at which level it may be.
pto-inspect ops --format=markdown >all
ops=$(grep -c '^### ' all)
[ "$ops" -ge 130 ] && [ "$(grep -c '^- level: ' all)" -eq "$ops" ] || fail "$ops ops"
