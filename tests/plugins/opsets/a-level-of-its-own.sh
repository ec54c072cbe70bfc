# An op-set declares a level of its own: its ops are in functions of that level alone, its pass makes tensor ops of them
# and is given only such functions, and a pipeline that forgets the pass is refused before anything runs.
. "$TEST_ROOT/tests/shell.sh"
cat >plugin.c <<'EOF'
#include <pto/plugin.h>
static pto_status infer(const pto_run *run, pto_op op, pto_type *results)
{
    (void)run;
    results[0] = pto_value_type(pto_op_operand(op, 0));
    return PTO_OK;
}
static const pto_row_operand x = {.struct_size = sizeof x, .types = PTO_OF_TENSOR, .name = "x"};
static const pto_op_row row = {.struct_size = sizeof row, .traits = PTO_TRAIT_PURE, .name = "acme.image.brighten",
    .doc = "Each element doubled.", .result_count = 1, .result_types = PTO_OF_TENSOR,
    .operands = PTO_LIST(pto_row_operand, &x), .infer = infer};
static const pto_opset set = {.struct_size = sizeof set, .id = "acme.image", .level = LEVEL,
    .rows = PTO_LIST(pto_op_row, &row)};
#define KINDS(X) X(BRIGHTEN, "acme.image.brighten") X(ADD, "tensor.add")
PTO_KINDS(KINDS);
#define STATS(X) X(LOWERED, "lowered")
PTO_STATS(STATS);
static pto_status lower(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (!PTO_IS(op, BRIGHTEN)) continue;
        const pto_value a = pto_op_operand(op, 0);
        const pto_value sum = pto_make2(run, pto_before(op), pto_kind(run, KIND_ADD), pto_value_type(a), a, a);
        PTO_NEED(sum);
        pto_stat_add(run, STAT_LOWERED, 1);
        PTO_TRY(pto_op_replace_by(op, sum));
    }
    return PTO_OK;
}
static const pto_pass pass = {.struct_size = sizeof pass, .id = "acme.image.lower", .summary = "Make tensor ops of images",
    .scope = "function", .consumes = LEVEL, .produces = "tensor/1", .kinds = pass_kinds, .stats = pass_stats, .run = lower};
PTO_PLUGIN("acme.image", "op:acme.image.brighten pass:acme.image.lower", "", .version = "0", .license = "MIT",
           .passes = PTO_LIST(pto_pass, &pass), .opsets = PTO_LIST(pto_opset, &set));
EOF
make() { # LEVEL
  rm -f plugin.so
  "${CC:-cc}" -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -I "$TEST_ROOT/sdk/include" -I "$TEST_BUILD/include" \
    "-DLEVEL=\"$1\"" plugin.c -o plugin.so || fail "$1"
}
image() { printf '  %%%s = acme.image.brighten %%%s : tensor<4 x 8 x f32>\n' "$2" "$1"; }
module() { printf 'func @f(%%x: tensor<4 x 8 x f32>) -> tensor<4 x 8 x f32> {\n%s\n  return %%%s\n}\n' "$1" "$2"; }
make acme.image/1
module "$(image x y)" y >m.ptir
module '  %y = tensor.neg %x : tensor<4 x 8 x f32>' y | sed s/@f/@g/ >>m.ptir
module "$(image x y && echo '  %z = tensor.neg %y : tensor<4 x 8 x f32>')" z >mixed.ptir

# Read, verified, printed, listed.
ends 0 pto-opt m.ptir --plugin="$PWD/plugin.so"
cmp -s out m.ptir || fail "the text changed: $(diff m.ptir out)"
ends 0 pto-inspect ops acme.image.brighten --plugin="$PWD/plugin.so"
grep -q '^ *level *acme.image/1$' out || fail "$(cat out)"
refuses 4 'mixed.ptir:3:8: error: [E0317] `tensor.neg` does not belong to a function of level acme.image/1' \
  pto-opt mixed.ptir --plugin="$PWD/plugin.so"

# Its pass is run on functions of the level; the others are left alone.
cat >lower.yaml <<'EOF'
pto-pipeline: 1
name: lower
passes:
  - acme.image.lower
EOF
ends 0 pto-opt m.ptir --plugin="$PWD/plugin.so" --pipeline=lower.yaml --stats
grep -qx '  %0 = tensor.add %x, %x : tensor<4 x 8 x f32>' out || fail "$(cat out)"
says '1  lowered$'

# Through all levels, with the pass and without it.
cat >all.yaml <<'EOF'
pto-pipeline: 1
name: all
extends: default.yaml
edit:
  - { insert-before: inline, with: acme.image.lower }
EOF
module "$(image x y)" y >f.ptir
/usr/bin/python3 -c 'import numpy; numpy.save("x.npy", numpy.arange(32, dtype="f4").reshape(4, 8))'
for pipeline in all.yaml "all.yaml --set=backend.use=pto.reference"; do
  # shellcheck disable=SC2086
  ends 0 pto-run f.ptir --plugin="$PWD/plugin.so" --pipeline=$pipeline --in=x=x.npy --out=y=y.npy
  /usr/bin/python3 -c 'import numpy; assert (numpy.load("y.npy") == 2 * numpy.load("x.npy")).all()' || fail "$pipeline"
done
fails 2 'default.yaml:10:5: error: \[E1701\] step `inline` (pto.inline) works on tensor/1, but only acme.image/1 is there' \
  pto-opt f.ptir --plugin="$PWD/plugin.so" --pipeline=default.yaml

# What a level may be called.
make acme.image
ends 4 pto-opt m.ptir --plugin="$PWD/plugin.so"
says_line "error: [E1312] plugin \`acme.image\` ($PWD/plugin.so) describes itself wrongly: \`acme.image.lower\` names the level \`acme.image\`, which this core does not know"
make acme.other/1
ends 4 pto-opt m.ptir --plugin="$PWD/plugin.so"
says_line "error: [E1312] plugin \`acme.image\` ($PWD/plugin.so) describes itself wrongly: \`acme.image.lower\` names the level \`acme.other/1\`, which this core does not know"
says "unknown op \`acme.image.brighten\`; no plugin that can be used provides it"
