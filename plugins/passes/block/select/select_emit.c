/* Writes the instructions beside the tile ops, then takes the tile ops and carried tiles away. */
#include "select_plan.h"

#include "machine_facts.h"
#include "machine_types.h"

/* ---- instructions ---- */

static int is_one_of(pto_str name, const char *const *names)
{
    for (uint32_t i = 0; names[i] != NULL; i++) {
        if (pto_str_is(name, names[i])) return 1;
    }
    return 0;
}

static void copy_attrs(pto_spec *s, pto_op op, const char *const *but)
{
    for (uint32_t i = 0, end = pto_op_attr_count(op); i < end; i++) {
        pto_str name = pto_no_str();
        pto_attr value = pto_op_attr_at(op, i, &name);
        if (is_one_of(name, but)) continue;
        pto_spec_attr(s, name, value);
    }
}

/* The vector unit does not do everything in every element type. Types that were found good are not asked for again. */
static pto_status check_type(select_plan *p, pto_op op, pto_kind_id insn, pto_value tile)
{
    const pto_dtype own = pto_type_dtype(pto_value_type(tile)),
                    t = own == PTO_MASK ? PTO_U16 : own; /* rows of bits are words */
    for (uint32_t i = 0; i < SELECT_KNOWN_TYPES; i++) {
        if (p->known[i].insn == insn && p->known[i].dtype == t) return PTO_OK;
    }
    const pto_str has = machine_dtypes(p->run, insn), name = pto_kind_name(p->run, insn);
    if (has.n != 0 && !machine_lists(has, pto_dtype_name(t)))
        return pto_error(op, "pto.select/no-instruction",
                         "the machine has no `%.*s` in %s, only in %.*s: compute in one of these", PTO_FMT(name),
                         pto_dtype_name(t), PTO_FMT(has));
    p->known[p->known_next++ % SELECT_KNOWN_TYPES] = (select_known_type){insn, t};
    return PTO_OK;
}

static pto_status check_conversion(select_plan *p, pto_op op)
{
    const pto_dtype from = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)));
    const pto_dtype to = pto_type_dtype(pto_value_type(pto_op_result(op, 0)));
    const pto_str has = machine_conversions(p->run, from);
    if (pto_str_is(pto_attr_str_of(op, PTO_STR("mode")), "odd") &&
        !machine_rounds_to_odd(p->run, pto_op_kind(op), from, to))
        return pto_error(op, "pto.select/no-rounding",
                         "the machine does not round %s to %s by `odd` (`facts.tcvt.odd`): choose another mode",
                         pto_dtype_name(from), pto_dtype_name(to));
    if (machine_dtypes(p->run, pto_op_kind(op)).n == 0 || machine_lists(has, pto_dtype_name(to))) return PTO_OK;
    return pto_error(op, "pto.select/no-conversion", "the machine converts %s to %.*s and not to %s: convert in steps",
                     pto_dtype_name(from), PTO_FMT(has.n != 0 ? has : PTO_STR("nothing")), pto_dtype_name(to));
}

/* The first tile that an op reads and that is not a mask; of an op on masks the first one; none: it reads no tile. */
static pto_value computed_tile(pto_op op)
{
    pto_value found = pto_value_none(op.run);
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        const pto_value v = pto_op_operand(op, i);
        if (!storage_is_tile(v) || (PTO_SOME(found) && pto_type_dtype(pto_value_type(v)) == PTO_MASK)) continue;
        found = v;
        if (pto_type_dtype(pto_value_type(v)) != PTO_MASK) return found;
    }
    return found;
}

/* What an instruction computes in is the type of its first tile, for conversions also that of the result; others whose
 * result has a type of its own have it by their row. */
static pto_status check_types(select_plan *p, pto_op op, pto_kind_id insn)
{
    if (pto_kind_column(p->run, insn, PTO_COLUMN_UNIT) != PTO_UNIT_VECTOR) return PTO_OK;
    const pto_value source = computed_tile(op);
    const int has_source = PTO_SOME(source);
    const int converts = pto_kind_column(p->run, insn, PTO_COLUMN_RULE) == PTO_RULE_CONVERT;
    if (!has_source || converts) PTO_TRY(check_type(p, op, insn, pto_op_result(op, 0)));
    if (converts) PTO_TRY(check_conversion(p, op));
    return has_source ? check_type(p, op, insn, source) : PTO_OK;
}

/* With the attributes of `op` but some. */
static pto_status build_insn_but(select_plan *p, pto_spec *s, pto_op op, const char *const *but)
{
    copy_attrs(s, op, but);
    pto_spec_loc(s, pto_op_loc(op));
    pto_stat_add(p->run, STAT_INSTRUCTIONS, 1);
    return PTO_SOME(pto_spec_build(s, pto_before(op))) ? PTO_OK : PTO_FAILED;
}

static pto_status build_insn(select_plan *p, pto_spec *s, pto_op op)
{
    static const char *const of_value_form[] = {"sizes", "valid", "stages", NULL};
    return build_insn_but(p, s, op, of_value_form);
}

/* Fills what `loaded` leaves of the tile, which the load of the machine would do in part. */
static pto_status emit_filling(select_plan *p, pto_op load, pto_value loaded)
{
    const pto_value whole = select_describe(p, pto_op_result(load, 0), load, NULL);
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_TFILLPAD));
    PTO_TRY(check_type(p, load, pto_kind(p->run, KIND_TFILLPAD), whole));
    pto_spec_operand(&s, whole);
    pto_spec_operand(&s, loaded);
    pto_spec_attr(&s, PTO_STR("pad"), pto_op_attr(load, PTO_STR("pad")));
    pto_spec_loc(&s, pto_op_loc(load));
    pto_stat_add(p->run, STAT_INSTRUCTIONS, 1);
    return PTO_SOME(pto_spec_build(&s, pto_before(load))) ? PTO_OK : PTO_FAILED;
}

static pto_status emit_load(select_plan *p, pto_spec *s, pto_op op)
{
    static const char *const kept_pad[] = {"sizes", "stages", NULL}, *const no_pad[] = {"sizes", "stages", "pad", NULL};
    /* The window is the valid region of the target, even when padding fills more. */
    const pto_expr window[2] = {pto_expr_of(op, PTO_STR("sizes"), 0), pto_expr_of(op, PTO_STR("sizes"), 1)};
    const int is_stated = pto_expr_count_of(op, PTO_STR("sizes")) == 2,
              is_filled = is_stated && PTO_SOME(pto_op_attr(op, PTO_STR("pad"))) &&
                          machine_pads_to(
                              p->run, (pto_kind_id)pto_kind_column(p->run, pto_op_kind(op), PTO_COLUMN_PARTNER)) != 0;
    const pto_value loaded = select_describe(p, pto_op_result(op, 0), op, is_stated ? window : NULL);
    pto_spec_operand(s, loaded);
    pto_spec_operand(s, pto_op_operand(op, 0));
    PTO_TRY(build_insn_but(p, s, op, is_filled ? no_pad : kept_pad));
    return is_filled ? emit_filling(p, op, loaded) : PTO_OK;
}

/* Sums times factors of their columns. */
static pto_status check_columns(const select_plan *p, pto_op op, pto_value sums, pto_dtype to)
{
    const pto_dtype from = pto_type_dtype(pto_value_type(sums));
    if (machine_scales_columns(p->run, from, to)) return PTO_OK;
    return pto_error(op, "pto.select/no-scale",
                     "stores of the machine do not scale columns of %s to %s (`matrix.store-scaled-columns`)",
                     pto_dtype_name(from), pto_dtype_name(to));
}

static pto_status emit_store(select_plan *p, pto_spec *s, pto_op op)
{
    if (pto_attr_bool_of(op, PTO_STR("relu"), 0) && pto_machine_i64_or(p->run, 0, "matrix.store-relu") == 0)
        return pto_error(op, "pto.select/no-relu", "stores of the machine have no relu (`matrix.store-relu`)");
    const uint32_t memory = pto_op_operand_count(op) - 1;
    const pto_dtype from = pto_type_dtype(pto_value_type(pto_op_operand(op, 0))),
                    to = pto_type_dtype(pto_value_type(pto_op_operand(op, memory)));
    if (memory == 2) PTO_TRY(check_columns(p, op, pto_op_operand(op, 0), to));
    if (PTO_SOME(pto_op_attr(op, PTO_STR("scale"))) && !machine_scales(p->run, from, to))
        return pto_error(op, "pto.select/no-scale",
                         "stores of the machine do not scale %s to %s (`matrix.store-scaled`)", pto_dtype_name(from),
                         pto_dtype_name(to));
    PTO_TRY(select_zero_use(p, op, pto_op_operand(op, 0)));
    pto_spec_operand(s, pto_op_operand(op, memory));
    for (uint32_t i = 0; i < memory; i++) pto_spec_operand(s, select_describe(p, pto_op_operand(op, i), op, NULL));
    return build_insn(p, s, op);
}

static pto_status add_scratch(select_plan *p, pto_spec *s, pto_op op)
{
    pto_value scratch;
    PTO_TRY(select_scratch_operand(p, op, &scratch));
    if (PTO_SOME(scratch)) pto_spec_operand(s, scratch);
    return PTO_OK;
}

/* What writes no tile: it looks at one, and its scalar, if it makes one, takes the place of the value form's. */
static pto_status emit_look(select_plan *p, pto_spec *s, pto_op op)
{
    static const char *const none[] = {NULL};
    PTO_TRY(select_zero_use(p, op, pto_op_operand(op, 0)));
    pto_spec_operand(s, select_describe(p, pto_op_operand(op, 0), op, NULL));
    if (pto_op_result_count(op) == 0) return build_insn(p, s, op);
    const pto_value old = pto_op_result(op, 0);
    pto_spec_result(s, pto_value_type(old));
    copy_attrs(s, op, none);
    pto_spec_loc(s, pto_op_loc(op));
    pto_spec_name(s, pto_value_name(old));
    pto_stat_add(p->run, STAT_INSTRUCTIONS, 1);
    const pto_value made = pto_spec_value(s, pto_before(op));
    PTO_NEED(made);
    return pto_value_replace(old, made);
}

static pto_status emit_on_chip(select_plan *p, pto_spec *s, pto_op op)
{
    pto_value sources[8];
    uint32_t count = pto_op_operand_count(op);
    if (count > 8) return PTO_FAILED;
    for (uint32_t i = 0; i < count; i++) {
        sources[i] = pto_op_operand(op, i);
        if (!storage_is_tile(sources[i])) continue;
        PTO_TRY(select_zero_use(p, op, sources[i]));
        sources[i] = select_describe(p, sources[i], op, NULL);
    }
    if (pto_kind_column(p->run, pto_op_kind(op), PTO_COLUMN_UNIT) == PTO_UNIT_FIX)
        PTO_TRY(
            check_columns(p, op, pto_op_operand(op, count - 2), pto_type_dtype(pto_value_type(pto_op_result(op, 0)))));
    pto_spec_operand(s, select_describe(p, pto_op_result(op, 0), op, NULL));
    pto_spec_operands(s, count, sources);
    PTO_TRY(add_scratch(p, s, op));
    return build_insn(p, s, op);
}

/* The integer that a subtraction on tiles subtracts, where the machine would round it to an f32. */
static int is_rounded(const select_plan *p, pto_op op, pto_kind_id insn, int64_t *out)
{
    const pto_dtype dtype = pto_type_dtype(pto_value_type(pto_op_result(op, 0)));
    const pto_op made = pto_value_op(pto_op_operand(op, 1));
    if (!PTO_SOME(made) || !PTO_IS(made, CONSTANT) || pto_dtype_is_float(dtype)) return 0;
    *out = pto_attr_i64(pto_op_attr(made, PTO_STR("value")));
    return (double)(float)*out != (double)*out && machine_scalar_through_f32(p->run, insn, dtype);
}

/* a - s as a + -s, both modulo the range of the type. */
static pto_status emit_negated(select_plan *p, pto_op op, int64_t scalar)
{
    const pto_value a = pto_op_operand(op, 0), old = pto_op_operand(op, 1);
    int64_t least = INT64_MIN;
    for (int64_t bytes = 8; bytes > pto_dtype_bytes(pto_type_dtype(pto_value_type(old))); bytes--) least /= 256;
    pto_spec c = pto_spec_make(p->run, pto_kind(p->run, KIND_CONSTANT)),
             s = pto_spec_make(p->run, pto_kind(p->run, KIND_TADDS));
    pto_spec_int(&c, PTO_STR("value"), scalar == least ? least : -scalar);
    pto_spec_result(&c, pto_value_type(old));
    pto_spec_loc(&c, pto_op_loc(op));
    const pto_value minus = pto_spec_value(&c, pto_before(op));
    PTO_NEED(minus);
    PTO_TRY(select_zero_use(p, op, a));
    const pto_value from = select_describe(p, a, op, NULL);
    pto_spec_operand(&s, select_describe(p, pto_op_result(op, 0), op, NULL));
    pto_spec_operand(&s, from);
    pto_spec_operand(&s, minus);
    return build_insn(p, &s, op);
}

static int compares(const select_plan *p, pto_op op)
{
    const int64_t rule = pto_kind_column(p->run, pto_op_kind(op), PTO_COLUMN_RULE);
    return rule == PTO_RULE_COMPARE || rule == PTO_RULE_COMPARE_SCALAR;
}

/* `a r b`, where the machine has no r for integers: the lesser or the greater of a and b is b, or is not. */
typedef struct by_equality {
    const char *asked, *by;
    uint32_t extreme, extreme_scalar;
} by_equality;

static const by_equality *find_equality(const select_plan *p, pto_op op, pto_kind_id insn, pto_dtype dtype)
{
    static const by_equality rows[] = {{"lt", "ne", KIND_TMIN, KIND_TMINS},
                                       {"le", "eq", KIND_TMAX, KIND_TMAXS},
                                       {"gt", "ne", KIND_TMAX, KIND_TMAXS},
                                       {"ge", "eq", KIND_TMIN, KIND_TMINS}};
    const pto_str asked = pto_attr_str_of(op, PTO_STR("relation"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pto_str_is(asked, rows[i].asked) && !pto_dtype_is_float(dtype) &&
            machine_compares_as(p->run, insn, dtype, pto_s(rows[i].by)).n == 0)
            return &rows[i];
    return NULL;
}

/* Exact for all integers: no number is computed. */
static pto_status emit_by_equality(select_plan *p, pto_op op, pto_kind_id insn)
{
    static const char *const relation[] = {"relation", NULL};
    const pto_value a = pto_op_operand(op, 0), b = pto_op_operand(op, 1);
    const pto_dtype dtype = pto_type_dtype(pto_value_type(a));
    const by_equality *row = find_equality(p, op, insn, dtype);
    const pto_str name = pto_kind_name(p->run, insn);
    const int is_tile = storage_is_tile(b);
    pto_expr valid[2];
    if (row == NULL)
        return pto_error(op, "pto.select/no-relation",
                         "the machine does not compare %s by `%.*s` (`relations` of `%.*s` in its file): compare in "
                         "another element type",
                         pto_dtype_name(dtype), PTO_FMT(pto_attr_str_of(op, PTO_STR("relation"))), PTO_FMT(name));
    const pto_kind_id extreme = pto_kind(p->run, is_tile ? row->extreme : row->extreme_scalar);
    PTO_TRY(check_type(p, op, extreme, a));
    PTO_TRY(pto_value_valid(a, valid));
    const pto_value from = select_describe(p, a, op, NULL), with = is_tile ? select_describe(p, b, op, NULL) : b,
                    found = select_scratch_tile(p, pto_value_type(a), pto_op_result(op, 0), valid, op),
                    to = select_describe(p, pto_op_result(op, 0), op, NULL);
    if (!PTO_SOME(from) || !PTO_SOME(with) || !PTO_SOME(found) || !PTO_SOME(to)) return PTO_FAILED;
    pto_spec choose = pto_spec_make(p->run, extreme), compare = pto_spec_make(p->run, insn);
    const pto_value chosen[3] = {found, from, with}, compared[3] = {to, found, with};
    pto_spec_operands(&choose, 3, chosen);
    pto_spec_operands(&compare, 3, compared);
    pto_spec_str(&compare, PTO_STR("relation"), pto_s(row->by));
    PTO_TRY(build_insn_but(p, &choose, op, relation));
    return build_insn_but(p, &compare, op, relation);
}

static int compares_as_asked(const select_plan *p, pto_op op, pto_kind_id insn)
{
    const pto_dtype dtype = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)));
    return machine_compares_as(p->run, insn, dtype, pto_attr_str_of(op, PTO_STR("relation"))).n == 0;
}

static pto_status emit_tile_op(select_plan *p, pto_op op)
{
    int64_t scalar = 0;
    if (PTO_IS(op, ZERO_ACC)) {
        const uint32_t i = storage_find_value(&p->source, pto_op_result(op, 0));
        p->values[i].zero = ZERO_ALWAYS;
        return PTO_OK;
    }
    if (PTO_IS(op, MATMUL_ACC)) return select_emit_matmul_acc(p, op);
    const pto_kind_id insn = (pto_kind_id)pto_kind_column(p->run, pto_op_kind(op), PTO_COLUMN_PARTNER);
    PTO_TRY(check_types(p, op, insn));
    if (compares(p, op) && !compares_as_asked(p, op, insn)) return emit_by_equality(p, op, insn);
    if (PTO_IS(op, SUBS) && is_rounded(p, op, insn, &scalar)) return emit_negated(p, op, scalar);
    pto_spec s = pto_spec_make(p->run, insn);
    switch (pto_op_transfer(op)) {
    case PTO_TRANSFER_LOAD: return emit_load(p, &s, op);
    case PTO_TRANSFER_STORE: return emit_store(p, &s, op);
    default: break;
    }
    if (pto_op_result_count(op) == 0 || !storage_is_tile(pto_op_result(op, 0))) return emit_look(p, &s, op);
    return emit_on_chip(p, &s, op);
}

/* ---- control ---- */

/* What a loop carries has one storage in all its blocks, which is that of its results. */
static pto_status enter_loop(select_plan *p, uint32_t place)
{
    const region_table *r = &p->source.regions;
    const pto_op loop = r->ops[place].op;
    const uint32_t n = region_carried(r, place);
    pto_value *dst = PTO_SCRATCH(p->run, pto_value, n), *src = PTO_SCRATCH(p->run, pto_value, n);
    for (uint32_t i = 0; i < n; i++) {
        dst[i] = region_argument(r, place, 0, i);
        src[i] = pto_op_operand(loop, i);
    }
    PTO_TRY(select_copy_all(p, n, dst, src, loop));
    return select_zero_enter(p, place);
}

static pto_status leave_block(select_plan *p, uint32_t place)
{
    const region_table *r = &p->source.regions;
    const pto_op yield = r->ops[place].op, owner = r->ops[r->ops[place].parent].op;
    const uint32_t n = pto_op_operand_count(yield);
    if (!region_block_gives(r, r->ops[place].parent, r->ops[place].block)) return PTO_OK;
    pto_value *dst = PTO_SCRATCH(p->run, pto_value, n), *src = PTO_SCRATCH(p->run, pto_value, n);
    PTO_TRY(select_zero_leave(p, yield));
    for (uint32_t i = 0; i < n; i++) {
        dst[i] = pto_op_result(owner, i);
        src[i] = pto_op_operand(yield, i);
    }
    return select_copy_all(p, n, dst, src, yield);
}

pto_status select_emit(select_plan *p, uint32_t k)
{
    if (storage_on_tiles(&p->source, k)) return emit_tile_op(p, storage_op_at(&p->source, k));
    switch (p->source.regions.ops[k + 1].kind) {
    case REGION_FOR:
    case REGION_WHILE: return enter_loop(p, k + 1);
    case REGION_YIELD: return leave_block(p, k + 1);
    default: return PTO_OK;
    }
}

/* ---- taking away ---- */

static int hands_tiles(const select_plan *p, uint32_t k)
{
    const pto_op op = storage_op_at(&p->source, k);
    if (!p->storage.ops[k].hands_over) return 0;
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        if (storage_is_tile(pto_op_operand(op, i))) return 1;
    }
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) {
        if (storage_is_tile(pto_op_result(op, i))) return 1;
    }
    return 0;
}

/* Lets go of the tiles of a block; the yield itself goes with its loop or branch. */
static pto_status release_yield(pto_op yield)
{
    for (uint32_t i = 0, end = pto_op_operand_count(yield); i < end; i++) {
        if (storage_is_tile(pto_op_operand(yield, i)))
            PTO_TRY(pto_op_set_operand(yield, i, pto_op_result(pto_op_parent(yield), i)));
    }
    return PTO_OK;
}

static pto_status build_yield(const pto_run *run, pto_op old, pto_block to)
{
    pto_spec s = pto_spec_make(run, pto_op_kind(old));
    for (uint32_t i = 0, end = pto_op_operand_count(old); i < end; i++) {
        if (!storage_is_tile(pto_op_operand(old, i))) pto_spec_operand(&s, pto_op_operand(old, i));
    }
    pto_spec_loc(&s, pto_op_loc(old));
    return PTO_SOME(pto_spec_build(&s, pto_at_end(to))) ? PTO_OK : PTO_FAILED;
}

static pto_status move_block(const pto_run *run, pto_block from, pto_block to)
{
    for (uint32_t i = 0, end = pto_block_arg_count(from); i < end; i++) {
        pto_value old = pto_block_arg(from, i);
        if (storage_is_tile(old)) continue;
        pto_value made = pto_block_add_arg(to, pto_value_type(old), PTO_STR("i"));
        PTO_NEED(made);
        PTO_TRY(pto_value_set_name(made, pto_value_name(old)));
        PTO_TRY(pto_value_replace(old, made));
    }
    pto_op yield = pto_block_last(from);
    PTO_EACH_OP(from, op) {
        if (!pto_op_same(op, yield)) PTO_TRY(pto_op_move(op, pto_at_end(to)));
    }
    return build_yield(run, yield, to);
}

/* The loop or branch again, without tiles among what it takes and produces. */
static pto_status strip_control(const pto_run *run, pto_op op)
{
    static const char *const regions[] = {"valid", NULL};
    pto_spec s = pto_spec_make(run, pto_op_kind(op));
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        if (!storage_is_tile(pto_op_operand(op, i))) pto_spec_operand(&s, pto_op_operand(op, i));
    }
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) {
        if (!storage_is_tile(pto_op_result(op, i))) pto_spec_result(&s, pto_value_type(pto_op_result(op, i)));
    }
    copy_attrs(&s, op, regions);
    pto_spec_blocks(&s, pto_op_block_count(op));
    pto_spec_loc(&s, pto_op_loc(op));
    pto_op made = pto_spec_build(&s, pto_before(op));
    PTO_NEED(made);
    for (uint32_t b = 0, blocks = pto_op_block_count(op); b < blocks; b++)
        PTO_TRY(move_block(run, pto_op_block_at(op, b), pto_op_block_at(made, b)));
    for (uint32_t i = 0, next = 0; i < pto_op_result_count(op); i++) {
        pto_value old = pto_op_result(op, i);
        if (storage_is_tile(old)) continue;
        pto_value by = pto_op_result(made, next++);
        PTO_TRY(pto_value_set_name(by, pto_value_name(old)));
        PTO_TRY(pto_value_replace(old, by));
    }
    return pto_op_erase(op);
}

/* From the last op to the first: users go before what they use, and yields before their loops. */
pto_status select_clean(select_plan *p)
{
    for (uint32_t k = p->storage.op_count; k-- > 0;) {
        pto_op op = storage_op_at(&p->source, k);
        if (storage_on_tiles(&p->source, k))
            PTO_TRY(pto_op_erase(op));
        else if (!hands_tiles(p, k))
            continue;
        else if (p->source.regions.ops[k + 1].kind == REGION_YIELD)
            PTO_TRY(release_yield(op));
        else
            PTO_TRY(strip_control(p->run, op));
    }
    return PTO_OK;
}
