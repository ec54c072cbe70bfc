# What cannot be written for the chip is said where it stands, and nothing is written then.
. "$TEST_ROOT/tests/shell.sh"
cp "$TEST_ROOT/tests/generators/emit-ascend/inputs/emit.yaml" . && mkdir -p machines
sed -i 's|^machine: .*|machine: machines/ascend-910b.yaml|' emit.yaml
cp "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" machines/

# refused LINE:COLUMN TEXT: of k.ptir, in the form $form.
form=cpp
refused() {
  fails 5 "k.ptir:$1: error: \[pto.emit-ascend/unsupported\] $2" pto-opt k.ptir --pipeline=emit.yaml \
    --set="backend.with.generator={ use: pto.emit-ascend, with: { form: $form } }" -o tree/
  [ ! -e tree ] || fail 'a refused run left a folder'
}
# vector TYPE BODY: a vector kernel over one array, and what is in it.
vector() {
  printf 'module {machine = "ascend-910b"} {\nblock.kernel @k core(vector) grid(%%i: 1) (%%x: gm<%s>) {\n%s\n}\nfunc @f(%%x: gm<%s>) {\nexec.launch @k args(%%x)\nreturn\n}\n}\n' "$1" "$2" "$1" >k.ptir
}
# host BODY: a function beside no kernel.
host() {
  printf 'module {machine = "ascend-910b"} {\nfunc @f(%%x: gm<8 x i32>) {\n%s\n}\n}\n' "$1" >k.ptir
}
buffer='%b = block.buffer {space = vec, bytes_per_stage = 1024, addr = 0} : buffer'

# Instructions and their attributes.
vector '8 x i32' "$buffer
%t = block.tile %b[0] valid(1, 8) : tile<1 x 8 x i32, vec, nd>
%u = block.tile %b[0] valid(1, 8) : tile<1 x 8 x i32, vec, nd>
pto.trowgather %t, %t, %u"
refused 6:1 '`pto.trowgather` has no form in the vendor.s library: ascend.def has no row for it \[@k/pto.trowgather\]'
vector '8 x i64' "$buffer
%t = block.tile %b[0] valid(1, 4) : tile<1 x 8 x i64, vec, nd>
pto.tload %t, %x[0] {pad = 1}"
refused 5:1 '`pto.tload` .*: of elements of i64'
vector '8 x f32' "$buffer
%t = block.tile %b[0] valid(8, 1) : tile<8 x 1 x f32, vec, dn>
%s = block.tile %b[0] valid(1, 1) : tile<8 x 1 x f32, vec, dn>
pto.tcolsum %s, %t"
refused 6:1 '`pto.tcolsum` .*: its tiles have their columns one after the other'
vector '8 x i32' "$buffer
%t = block.tile %b[0] valid(1, 8) : tile<4 x 8 x i32, vec, nd>
%c = constant {value = 0} : i32
pto.tci %t, %c"
refused 6:1 '`pto.tci` .*: the capacity of its tile is not one row'
runs() { # COLUMNS OF COLUMNS
  vector '8 x f32' "%b = block.buffer {space = vec, bytes_per_stage = 8192, addr = 0} : buffer
%c = block.buffer {space = vec, bytes_per_stage = 8192, addr = 8192} : buffer
%d = block.buffer {space = vec, bytes_per_stage = 8192, addr = 16384} : buffer
%t = block.tile %b[0] valid(1, $2) : tile<1 x 512 x rec64, vec, nd>
%u = block.tile %c[0] valid(1, $1) : tile<1 x 512 x rec64, vec, nd>
%v = block.tile %d[0] valid(1, 512) : tile<1 x 512 x rec64, vec, nd>
pto.tmrgsort %u, %t, %v {run = 32}"
}
runs 16 512
refused 9:1 '`pto.tmrgsort` .*: it has 16 runs, of which not all are whole and kept'
runs 512 'min(512, 32 * %i)'
refused 9:1 '`pto.tmrgsort` .*: it is not known how many runs there are'

# Tiles.
vector '8 x f32' '%b = block.buffer {space = vec, bytes_per_stage = 1024} : buffer
%t = block.tile %b[0] valid(1, 8) : tile<1 x 8 x f32, vec, nd>
pto.tload %t, %x[0]'
refused 4:6 '`block.tile` .*: its buffer has no address'
vector '8 x f32' "$buffer
%t = block.tile %b[0] valid(1, 3) : tile<1 x 3 x f32, vec, nd>
pto.tload %t, %x[0]"
refused 4:6 '`block.tile` .*: a line of the tile has 12 bytes, and must have a multiple of 32'

# Windows.
vector '8 x 4 x f32' "$buffer
%t = block.tile %b[0] valid(8, 1) : tile<8 x 1 x f32, vec, dn>
pto.tload %t, %x[0, 2]"
refused 5:1 '`pto.tload` .*: the elements of a column of the window do not follow each other in memory'
vector '8 x 8 x f32' "$buffer
%t = block.tile %b[0] valid(8, 8) : tile<8 x 8 x f32, vec, nd>
pto.tload %t, %x[0, 0] {transpose = true}"
refused 5:1 '`pto.tload` .*: tiles without boxes are not transposed on the way from global memory'
vector '8 x 8 x f32, strides [16, 2]' "$buffer
%t = block.tile %b[0] valid(8, 4) : tile<8 x 8 x f32, vec, nd>
pto.tload %t, %x[0, 0]"
refused 5:1 '`pto.tload` .*: the elements of a row of the window do not follow each other in memory'

# Control flow, parameters, kinds of cores.
vector '8 x f32' "$buffer
%r = if 1 == 1 {
%c = constant {value = 1} : i32
yield %c
} else {
%d = constant {value = 2} : i32
yield %d
} : i32"
refused 4:6 '`if` .*: it hands values over inside of a kernel'
printf 'module {machine = "ascend-910b"} {\nblock.kernel @k core(vector) grid(%%i: 1) (%%x: gm<8 x f32>, %%s: f8e4m3) {\n%s\n}\nfunc @f(%%x: gm<8 x f32>, %%s: f8e4m3) {\nexec.launch @k args(%%x, %%s)\nreturn\n}\n}\n' "$buffer" >k.ptir
refused 2:1 '`block.kernel` .*: parameter `%s` has elements of type f8e4m3'
vector '8 x f32' "$buffer"
sed -i 's/core(vector)/core(any)/' k.ptir
refused 2:1 '`block.kernel` .*: the machine has no cores of the kind `any` with tiles of their own'

# Functions of the host.
host 'debug.print %x
return'
refused 3:1 '`debug.print` .*: not in a function of the host'
host '%c = constant {value = 1.0} : bf16
%d = compare %c lt %c : bool
return'
refused 4:6 '`compare` .*: of its element type'
host '%c = index_cast from(1) : f16
return'
refused 3:6 '`index_cast` .*: of its element type'
host '%c = constant_array {value = resource("c.npy")} : gm<2 x i32>
return'
/usr/bin/python3 -B -c 'import numpy; numpy.save("c.npy", numpy.zeros(2, numpy.int32))'
refused 3:6 '`constant_array` .*: its elements are in a file'
printf 'module {machine = "ascend-910b"} {\nfunc @f(%%x: f8e4m3) {\nreturn\n}\n}\n' >k.ptir
refused 2:1 '`func` .*: parameter `%x` has elements of type f8e4m3'
printf 'module {machine = "ascend-910b"} {\nfunc @f(%%x: i32) -> i32 {\nreturn %%x\n}\n}\n' >k.ptir
refused 3:1 '`return` .*: it returns values'

# Machines that do not say what they are, or are something else.
vector '8 x f32' "$buffer"
sed -i '/^arch:/d' machines/ascend-910b.yaml
fails 5 'error: \[pto.emit-ascend/machine\] the machine does not say what architecture it has in the vendor.s library: `arch` is missing' \
  pto-opt k.ptir --pipeline=emit.yaml -o tree/
sed -i 's/^clock-hz:/arch: a9\n&/' machines/ascend-910b.yaml
fails 5 'error: \[pto.emit-ascend/machine\] the architecture `a9` is none that can be written for: a3 or a5' \
  pto-opt k.ptir --pipeline=emit.yaml -o tree/
[ ! -e tree ] || fail 'a refused run left a folder'

# A backend that compiles one text has no use for a folder.
negation >f.ptir
fails 5 'error: \[pto.emit-ascend/one-text\] this generator writes a folder, and one text is asked for' \
  pto-run f.ptir --pipeline=native.yaml --set=backend.with.generator=pto.emit-ascend --random-inputs=1

# What only addresses say.
form=assembler-level2
sed -i 's/^arch: a9/arch: a3/' machines/ascend-910b.yaml
vector '8 x 8 x f32' "$buffer
%t = block.tile %b[0] valid(8, 8) : tile<8 x 8 x f32, vec, nd>
pto.tload %t, %x[0, 0]
%u = block.tile %b[0] {offset = 32} valid(1, 8) : tile<1 x 8 x f32, vec, nd>
pto.tneg %u, %u"
refused 6:6 '`block.tile` has no form in the text of the vendor.s assembler: it is a part of the 256 bytes that another tile of its buffer wrote, which is only said by addresses: write level 3, `form: assembler`'
vector '8 x 8 x f32' '%b = block.buffer {space = vec, bytes_per_stage = 256, stages = 2, addr = 0} : buffer
%t = block.tile %b[0] valid(8, 8) : tile<8 x 8 x f32, vec, nd>
pto.tload %t, %x[0, 0]
for %j to 4 {
%u = block.tile %b[%j mod 2] valid(8, 8) : tile<8 x 8 x f32, vec, nd>
pto.tneg %u, %u
}'
refused 4:6 '`block.tile` has no form in the text of the vendor.s assembler: its buffer has stages, and what it holds may be what an earlier round left there, which is only said by addresses: write level 3, `form: assembler`'

# A pointer of the assembler is of one element type, and its index has 32 bits.
form=assembler
vector '4 x i64' "$buffer
%t = block.tile %b[0] valid(1, 8) : tile<1 x 8 x i32, vec, nd>
%v = view %x : gm<8 x i32>
pto.tload %t, %v[0]"
refused 5:6 '`view` has no form in the text of the vendor.s assembler: memory of i64 as i32: a pointer is of one element type'
vector '65536 x 65536 x i32' "$buffer
%t = block.tile %b[0] valid(1, 8) : tile<1 x 8 x i32, vec, nd>
pto.tload %t, %x[0, 0]"
refused 5:1 '`pto.tload` .*: its index has 32 bits in C++, too few for memory of 4294967296 elements'
vector '8 x f32' "$buffer
%t = block.tile %b[0] valid(1, 8) : tile<1 x 8 x f32, vec, nd>
pto.tload %t, %x[0]
%c = constant {value = inf} : f32
pto.tmins %t, %t, %c"
refused 7:1 '`pto.tmins` .*: its scalar is not finite, and that is not a number of the C++ that it writes'
