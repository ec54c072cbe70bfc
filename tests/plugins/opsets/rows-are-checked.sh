# Rows of op-sets that say nonsense are refused when the plugin is loaded, with what is wrong; nothing of the plugin can
# be used then. Each line below is a plugin of its own, built from one source that the line changes in one place.
. "$TEST_ROOT/tests/shell.sh"
cat >plugin.c <<'EOF'
#include <pto/plugin.h>
static pto_status infer(const pto_run *run, pto_op op, pto_type *results)
{
    (void)run;
    results[0] = pto_value_type(pto_op_operand(op, 0));
    return PTO_OK;
}
static const pto_row_operand x = {.struct_size = sizeof x, .types = PTO_OF_TENSOR, .name = "x", OPERAND};
static const pto_row_attr k = {.struct_size = sizeof k, .type = PTO_ROW_INT, .name = "k", .doc = "a number", ATTR};
static const pto_op_row row = {.struct_size = sizeof row, .traits = PTO_TRAIT_PURE, .name = "acme.copy", .doc = "A copy.",
    .result_count = 1, .result_types = PTO_OF_TENSOR, .operands = PTO_LIST(pto_row_operand, &x),
    .attrs = PTO_LIST(pto_row_attr, &k), .infer = infer, ROW};
static const pto_opset set = {.struct_size = sizeof set, .id = "acme", .level = "tensor/1",
    .rows = PTO_LIST(pto_op_row, &row), SET};
PTO_PLUGIN("acme.wrong", NOTE, "", .version = "0", .license = "MIT", .opsets = PTO_LIST(pto_opset, &set));
EOF
cat >m.ptir <<'EOF'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %y = acme.copy %x : tensor<4 x f32>
  return %y
}
EOF
make() { # PLACE TEXT: the member that is set again
  rm -f plugin.so
  set -- "$1" "$2" -DOPERAND=.reserved=0 -DATTR=.reserved=0 -DROW=.ulp=0 -DSET=.reserved=0 '-DNOTE="op:acme.copy"'
  place=$1 member=$2
  shift 2
  "${CC:-cc}" -w -shared -fPIC -fvisibility=hidden -I "$TEST_ROOT/sdk/include" -I "$TEST_BUILD/include" "$@" "-U$place" "-D$place=$member" \
    plugin.c -o plugin.so || fail "$place=$member"
}
wrong() { # PLACE TEXT SENTENCE
  make "$1" "$2"
  ends 4 pto-opt m.ptir --plugin="$PWD/plugin.so"
  says_line "error: [E1312] plugin \`acme.wrong\` ($PWD/plugin.so) describes itself wrongly: $3"
}
make ROW .ulp=0
ends 0 pto-opt m.ptir --plugin="$PWD/plugin.so"

# The op-set.
wrong SET '.id=NULL' 'an op-set has no id that ops of a plugin can begin with'
wrong SET '.id="Acme"' 'an op-set has no id that ops of a plugin can begin with'
wrong SET '.id="tensor"' 'an op-set has no id that ops of a plugin can begin with'
wrong SET '.id="other"' "its op-set is called \`other\`, which its own id does not begin with"
wrong SET '.level="tensor/9"' "\`acme\` names the level \`tensor/9\`, which this core does not know"
wrong SET '.struct_size=8' 'an op-set is too short a struct'
wrong SET '.rows=PTO_LIST(pto_op_row,&row,&row)' "two of its ops are called \`acme.copy\`"
# The row.
wrong ROW '.name="copy"' "an op of op-set \`acme\` is not called \`acme.\` and a word"
wrong ROW '.name="acme.a-b"' "an op of op-set \`acme\` is not called \`acme.\` and a word"
wrong ROW '.name="acme.a.b"' "an op of op-set \`acme\` is not called \`acme.\` and a word"
wrong ROW '.struct_size=64' "a row of op-set \`acme\` is too short a struct"
wrong ROW '.doc=NULL' "op \`acme.copy\` lacks its doc"
wrong ROW '.doc="a\nb"' "the doc of \`acme.copy\` is not plain text in one line"
wrong ROW '.numerics="\033[2J"' "the numerics of \`acme.copy\` is not plain text in one line"
wrong ROW '.traits=PTO_TRAIT_TERMINATOR' "op \`acme.copy\` has traits that an op of a plugin cannot have"
wrong ROW '.traits=PTO_TRAIT_COMMUTATIVE' "op \`acme.copy\` is commutative and has less than two operands"
wrong ROW '.dtypes=1u<<31' "op \`acme.copy\` names element types that this core does not know"
wrong ROW '.result_count=9' "op \`acme.copy\` has results of no number or types that this core knows"
wrong ROW '.result_types=0' "op \`acme.copy\` has results of no number or types that this core knows"
wrong ROW '.infer=NULL' "op \`acme.copy\` has results and lacks its infer"
wrong ROW '.iteration=99' "op \`acme.copy\` has an iteration that does not fit its operands, results and attributes"
wrong ROW '.iteration=PTO_ITER_REDUCE' "op \`acme.copy\` has an iteration that does not fit its operands, results and attributes"
wrong ROW '.iteration=PTO_ITER_MATMUL' "op \`acme.copy\` has an iteration that does not fit its operands, results and attributes"
wrong ROW '.ulp=256' "op \`acme.copy\` is off by more than 255 units"
wrong ROW '.operands=PTO_LIST(pto_row_operand,&x,&x,&x,&x,&x,&x,&x)' "op \`acme.copy\` has 7 operands; the most is 6"
wrong ROW '.attrs=PTO_LIST(pto_row_attr,&k,&k)' "two attributes of op \`acme.copy\` are called \`k\`"
wrong ROW '.attrs=PTO_LIST(pto_row_attr,&k,&k,&k,&k,&k,&k,&k,&k,&k,&k,&k)' "op \`acme.copy\` has 11 attributes; the most is 10"
# Operands and attributes.
wrong OPERAND '.name=NULL' "operand 0 of op \`acme.copy\` has no usable name"
wrong OPERAND '.types=0' "operand \`x\` of op \`acme.copy\` is of no types that this core knows"
wrong OPERAND '.struct_size=4' "operand 0 of op \`acme.copy\` is too short a struct"
wrong ATTR '.name="a b"' "an attribute of op \`acme.copy\` has no usable name"
wrong ATTR '.doc=NULL' "attribute \`k\` of op \`acme.copy\` lacks its doc or type"
wrong ATTR '.type=99' "attribute \`k\` of op \`acme.copy\` lacks its doc or type"
wrong ATTR '.struct_size=4' "an attribute of op \`acme.copy\` is too short a struct"
wrong ATTR '.doc="a\tb"' "the doc of an attribute of \`acme.copy\` is not plain text in one line"
wrong ATTR '.def="1.5"' "attribute \`k\` of op \`acme.copy\` has the default \`1.5\`, which it cannot have"
wrong ATTR '.type=PTO_ROW_DTYPE,.def="f32"' "attribute \`k\` of op \`acme.copy\` has the default \`f32\`, which it cannot have"
wrong ATTR '.required=1,.def="1"' "attribute \`k\` of op \`acme.copy\` has the default \`1\`, which it cannot have"
wrong ATTR '.type=PTO_ROW_ENUM' "attribute \`k\` of op \`acme.copy\` lacks its choices"
wrong ATTR '.choices=PTO_STRS("a")' "attribute \`k\` of op \`acme.copy\` has choices, but is not an enum"
wrong ATTR '.type=PTO_ROW_ENUM,.choices=PTO_STRS("a|b")' "attribute \`k\` of op \`acme.copy\` has a choice that is not a word"
# The note names every op, and no other.
make NOTE '"op:acme.other"'
ends 4 pto-opt m.ptir --plugin="$PWD/plugin.so"
says "unknown op \`acme.copy\`; no plugin that can be used provides it"
sed 's/copy/other/' m.ptir >other.ptir
ends 4 pto-opt other.ptir --plugin="$PWD/plugin.so"
says_line "error: [E1311] plugin \`acme.wrong\` ($PWD/plugin.so): its note and its descriptor differ in what it provides: op:acme.other and nothing"
make NOTE '"op:acme.copy op:acme.other"'
ends 4 pto-opt m.ptir --plugin="$PWD/plugin.so"
says_line "error: [E1311] plugin \`acme.wrong\` ($PWD/plugin.so): its note and its descriptor differ in what it provides: op:acme.other and nothing"
