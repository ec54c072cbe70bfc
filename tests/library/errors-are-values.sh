# What is wrong with a call of libpto is a result and diagnostics; nothing is printed, and the program goes on. The same
# on every backend.
set -e
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0
cat >wanted <<'END'
a missing plugin: 3
error: [E1301] `./missing.so` cannot be opened: No such file or directory
a context that is none: 2
error: [E1611] pto_pipeline_read was called with a context that could not be made
no place for a context: 2
no pipeline: 2
no pipeline: 2
no program: 2
no callable: 2
no callable: 2
no callable: 2
no callable: 2
no context: 2
a context: 0
no path: 2
error: [E1611] pto_pipeline_read needs a path, which is NULL
no place for a pipeline: 2
error: [E1611] pto_pipeline_read needs a place for the pipeline, which is NULL
no pipeline: 2
error: [E1501] cannot open `missing.yaml`: No such file or directory
a wrong pipeline: 3
mine.yaml:2:10: error: [E1307] no plugin provides pass `pto.missing`
a wrong setting: 2
<settings>:1:1: error: [E1107] `nothing.x` is not a path of a value; write STEP.with.OPTION, params.NAME, backend.with.OPTION or backend.use
a wrong backend: 3
<settings>:1:13: error: [E1307] no plugin provides backend `pto.nowhere`
a pipeline: 0
wrong text: 4
mine.ptir:1:9: error: [E0105] expected a parameter but found the end of the text
a wrong module: 4
mine.ptir:2:3: error: [E0320] `return` hands over 0 values; `func` needs 1
an empty text: 4
mine.ptir: error: [E1701] the module has no function
no place for a program: 2
error: [E1611] pto_compile_text needs a place for the program, which is NULL
no module: 4
missing.ptir: error: [E0115] cannot be read: No such file or directory
no text: 2
error: [E1611] pto_compile_text needs a text, which is NULL
a pipeline without backend: 0
its program: 0
its callable: 2
error: [E1710] the pipeline names no backend, which a callable needs
a program: 0
which function: 4
mine.ptir: error: [E1601] the module has 2 public functions; name the one to call
no function: 4
mine.ptir: error: [E1601] the module has no public function @add
no place: 2
error: [E1611] pto_callable_create needs a place for the callable, which is NULL
scale: 0
no constant: 4
error: [E1605] the constant `w` of @scale is not bound; bind it with pto_callable_set_constant
unknown constant: 4
error: [E1605] @scale has no constant `x` to bind
note: constant `w`
no name: 2
error: [E1611] pto_callable_set_constant needs a name, which is NULL
unknown symbol: 4
error: [E1608] @scale has no symbol $M that could be set
negative symbol: 4
error: [E1604] the symbol $N cannot be -4; symbols are at least 0
constant: 0
symbol: 0
against the symbol: 4
mine.ptir:1:1: error: [E1602] $N is 5 by pto_callable_set_symbol but 4 by dim 0 of `x` [@scale]
symbol: 0
fine: 0
no tensor: 4
error: [E1612] the tensor for `y` is NULL
on a device: 4
error: [E1612] the tensor for `x` is on a device of DLPack's type 2; only memory of the CPU, type 1, can be used
lanes: 4
error: [E1612] the tensor for `x` needs elements of type f32; it has DLPack's code 2, 32 bits, 4 lanes
f64: 4
error: [E1612] the tensor for `x` needs elements of type f32; it has DLPack's code 2, 64 bits, 1 lanes
i32: 4
error: [E1603] `x` needs elements of type f32, the tensor has <i4
rank 9: 4
error: [E1612] the tensor for `x` has rank 9; ranks are 0 to 8
no shape: 4
error: [E1612] the tensor for `x` has no shape: it is NULL
negative: 4
error: [E1612] the tensor for `x` has the extent -1 in dim 0
too many: 4
error: [E1612] the tensor for `x` has more elements than 64 bits count
rank 0: 4
error: [E1603] `x` needs rank 1, the tensor has rank 0
strided: 4
error: [E1612] the tensor for `x` is not dense: dim 0 has stride 2 and not 1
no data: 4
error: [E1612] the tensor for `x` has no data: it is NULL
unaligned: 4
error: [E1612] the tensor for `x` begins at an address that is not a multiple of 4, the bytes of an element
contradiction: 4
mine.ptir:1:1: error: [E1602] $N is 4 by pto_callable_set_symbol but 3 by dim 0 of `x` [@scale]
short output: 4
error: [E1602] dim 0 of `z` must be $N = 4, the tensor has 3
type of output: 4
error: [E1603] `z` needs elements of type f32, the tensor has <u4
rank of output: 4
error: [E1603] `z` needs rank 1, the tensor has rank 0
overlap: 4
mine.ptir:1:1: error: [E1612] the tensor for `z` overlaps that for `x`, which the function does not declare [@scale]
other extents: 4
mine.ptir:1:1: error: [E1602] $N is 4 by pto_callable_set_symbol but 6 by dim 0 of `x` [@scale]
too few inputs: 4
error: [E1611] @scale has 2 inputs, 1 are given
too many outputs: 4
error: [E1611] @scale has 1 outputs, 2 are given
no list: 2
error: [E1611] pto_callable_call needs a list of inputs, which is NULL
no extents: 2
error: [E1611] pto_callable_shapes needs a place for extents, which is NULL
packed weights: 0
packed: 0
weights: 0
rank of weights: 4
error: [E1603] `w` needs rank 1, the tensor has rank 2
weights: 0
type of weights: 4
error: [E1603] `w` needs elements of type f32, the tensor has <i4
weights: 0
symbol: 0
symbol of weights: 4
mine.ptir:1:1: error: [E1602] $K is 3 by pto_callable_set_symbol but 4 by dim 0 of `w` [@packed.init]
symbol: 0
right weights: 0
a pipeline that tunes nothing: 0
tuned: 0
its callable: 4
mine.ptir:2:3: error: [E1607] nothing says what $T is, one of 8 to 64 in steps of 8: compile by a pipeline with pto.tile [@tuned/T]
as a value: 2 missing.ptir:0:0 E0115 cannot be read: No such file or directory -
END
cc -D_GNU_SOURCE -I "$TEST_ROOT/sdk/include" "$TEST_ROOT/tests/library/inputs/wrong_calls.c" -L "$TEST_BUILD/lib" -lpto -Wl,-rpath,"$TEST_BUILD/lib" -o wrong-calls
for pipeline in reference.yaml default.yaml native.yaml; do
  XDG_CACHE_HOME=$TEST_TMP ends 0 ./wrong-calls "$pipeline"
  [ ! -s text ] || fail "something was printed"
  # Where was sought, and which machine is the host's, differs from machine to machine.
  grep -vE '^note: (sought|searched)|remark: \[' out | diff wanted - >difference || fail "$pipeline: $(cat difference)"
done
