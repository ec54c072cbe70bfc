/* Every instruction against the table of make_insn_tables.py, with and without CPU features; then the messages of calls
 * that must fail.
 *
 * usage: test_insn TABLE [--bench]. Tiles stand at odd addresses between guard bytes, and the whole memory image is
 * compared, not the valid region alone. */
#include "semantics/insn_semantics.h"

#include "case_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct insn_case {
    char name[NAME], what[WHAT];
    insn_call call;
    int64_t ulp, faults, source_count;
    bool has_dst, has_gm;
    number want; /* of tgetval */
    const uint8_t *dst_image, *dst_want, *src_image[3], *gm_image, *gm_want;
    int64_t dst_bytes, src_bytes[3], alias[3], gm_bytes;
} insn_case;

static tile_ref take_tile(reader *r, int64_t *out_alias, int64_t *out_bytes)
{
    tile_ref t = {.dtype = (pto_dtype)take_i64(r), .role = (uint32_t)take_i64(r), .order = (uint32_t)take_i64(r)};
    t.rows = take_i64(r);
    t.cols = take_i64(r);
    t.valid_rows = take_i64(r);
    t.valid_cols = take_i64(r);
    *out_alias = take_i64(r);
    *out_bytes = take_i64(r);
    return t;
}

static void take_window(reader *r, insn_case *c)
{
    gm_window *w = &c->call.gm;
    w->dtype = (pto_dtype)take_i64(r);
    w->rank = (uint32_t)take_i64(r);
    w->transpose = take_i64(r) != 0;
    for (int d = 0; d < PTO_MAX_DIMS; d++) w->dims[d] = take_i64(r);
    for (int d = 0; d < PTO_MAX_DIMS; d++) w->strides[d] = take_i64(r);
    for (int d = 0; d < PTO_MAX_DIMS; d++) w->offsets[d] = take_i64(r);
    w->rows = take_i64(r);
    w->cols = take_i64(r);
    c->gm_bytes = take_i64(r);
    c->gm_image = take(r, (size_t)c->gm_bytes);
    c->gm_want = take(r, (size_t)c->gm_bytes);
}

static insn_case take_case(reader *r)
{
    insn_case c = {0};
    int64_t none;
    memcpy(c.name, take(r, NAME), NAME);
    memcpy(c.what, take(r, WHAT), WHAT);
    c.call.function = insn_function_by_name(c.what, strcspn(c.what, " ")); /* what is tried is named first */
    c.call.mode = (round_mode)take_i64(r);
    c.call.saturate = take_i64(r) != 0;
    c.call.has_pad = take_i64(r) != 0;
    c.call.relation = (pto_relation)take_i64(r);
    c.ulp = take_i64(r);
    c.faults = take_i64(r);
    c.source_count = take_i64(r);
    c.call.scalar = take_number(r);
    c.call.run = c.call.scalar.is_int ? c.call.scalar.i : 0;
    c.call.descending = c.call.upper = c.call.run != 0;
    c.call.pad = take_number(r);
    c.has_dst = take_i64(r) != 0;
    if (c.has_dst) {
        c.call.dst = take_tile(r, &none, &c.dst_bytes);
        c.dst_image = take(r, (size_t)c.dst_bytes);
        c.dst_want = take(r, (size_t)c.dst_bytes);
    }
    for (int i = 0; i < c.source_count; i++) {
        c.call.src[i] = take_tile(r, &c.alias[i], &c.src_bytes[i]);
        c.src_image[i] = take(r, (size_t)c.src_bytes[i]);
    }
    c.has_gm = take_i64(r) != 0;
    if (c.has_gm) take_window(r, &c);
    const bool is_read = strcmp(c.name, "tgetval") == 0;
    const bool has_place = is_read || strncmp(c.name, "textract", 8) == 0 || strncmp(c.name, "tinsert", 7) == 0 ||
                           strcmp(c.name, "ttri") == 0;
    for (int i = 0; i < 2 && has_place; i++) c.call.at[i] = take_i64(r);
    if (!is_read) return c;
    c.want = c.call.scalar;
    c.call.scalar = number_from_int(-77);
    return c;
}

/* A scalar that was read, by its bits. */
static bool is_wanted(const insn_case *c, const insn_call *call)
{
    const pto_dtype t = c->call.src[0].dtype;
    if (strcmp(c->name, "tgetval") != 0) return true;
    return call->scalar.is_int == c->want.is_int &&
           element_from_number(t, call->scalar, false) == element_from_number(t, c->want, false);
}

static bool judge(const insn_case *c, const insn_call *call, pto_status s, const region *dst, const region *gm,
                  const region *src)
{
    if (s != PTO_OK) {
        printf("%s %s: failed: %s\n", c->name, c->what, call->text);
        return false;
    }
    const int64_t at = first_difference(c->call.dst.dtype, dst->all + GUARD, c->dst_want, dst->bytes, c->ulp);
    const int64_t gm_at = first_difference(c->call.gm.dtype, gm->all + GUARD, c->gm_want, gm->bytes, 0);
    bool sources_same = guards_stand(dst) && guards_stand(gm);
    for (int i = 0; i < c->source_count; i++) {
        sources_same = sources_same && guards_stand(&src[i]) &&
                       (src[i].bytes == 0 || memcmp(src[i].all + GUARD, c->src_image[i], src[i].bytes) == 0);
    }
    const bool is_read = is_wanted(c, call);
    if (at < 0 && gm_at < 0 && sources_same && is_read && call->faults == (uint64_t)c->faults) return true;
    printf("%s %s:", c->name, c->what);
    if (at >= 0) {
        const size_t size = element_bytes(c->call.dst.dtype);
        uint64_t got = 0, want = 0;
        memcpy(&got, dst->all + GUARD + at, size);
        memcpy(&want, c->dst_want + at, size);
        printf(" element %lld is %llx, wanted %llx", (long long)(at / (int64_t)size), (unsigned long long)got,
               (unsigned long long)want);
    }
    if (gm_at >= 0) printf(" global memory differs at byte %lld", (long long)gm_at);
    if (!is_read) printf(" another scalar");
    if (!sources_same) printf(" bytes beside the destination changed");
    if (call->faults != (uint64_t)c->faults)
        printf(" %llu faults, wanted %lld", (unsigned long long)call->faults, (long long)c->faults);
    printf("\n");
    return false;
}

static bool run_case(const insn_case *c, uint32_t cpu)
{
    static const uint8_t nothing[1];
    insn_call call = c->call;
    call.cpu = cpu;
    region dst = region_of(c->has_dst ? c->dst_image : nothing, (size_t)c->dst_bytes), src[3] = {{0}};
    region gm = region_of(c->has_gm ? c->gm_image : nothing, (size_t)c->gm_bytes);
    call.dst.base = dst.all + GUARD;
    call.dst.bytes = dst.bytes;
    for (int i = 0; i < c->source_count; i++) {
        const bool alias = c->alias[i] >= 0;
        src[i] = region_of(c->src_image[i], alias ? 0 : (size_t)c->src_bytes[i]);
        call.src[i].base = alias ? dst.all + GUARD + c->alias[i] : src[i].all + GUARD;
        call.src[i].bytes = alias ? dst.bytes - (size_t)c->alias[i] : src[i].bytes;
    }
    call.gm.base = gm.all + GUARD;
    call.gm.bytes = gm.bytes;
    const insn_id id = insn_by_name(c->name, strlen(c->name));
    pto_status s = insn_run(id, &call);
    if (s != PTO_OK && call.scratch_needed) {
        call.scratch_bytes = call.scratch_needed;
        call.scratch = malloc(call.scratch_bytes);
        s = insn_run(id, &call);
        free(call.scratch);
    }
    const bool good = judge(c, &call, s, &dst, &gm, src);
    for (int i = 0; i < c->source_count; i++) free(src[i].all);
    free(dst.all);
    free(gm.all);
    return good;
}

static int run_table(const uint8_t *bytes, size_t n)
{
    reader r = {bytes, bytes + n};
    const int64_t cases = take_i64(&r);
    int bad = 0;
    int64_t seen[INSN_COUNT] = {0};
    for (int64_t i = 0; i < cases && bad < 50; i++) {
        const int64_t size = take_i64(&r);
        reader one = {r.p, r.p + size};
        take(&r, (size_t)size);
        const insn_case c = take_case(&one);
        seen[insn_by_name(c.name, strlen(c.name))]++;
        bad += !run_case(&c, insn_cpu());
        if (c.name[1] == 'm' && c.name[2] == 'a' && c.name[3] == 't') bad += !run_case(&c, 0);
    }
    for (int id = INSN_NONE + 1; id < INSN_COUNT; id++) {
        if (seen[id]) continue;
        printf("%s: no case in the table\n", insn_name((insn_id)id));
        bad++;
    }
    printf("%lld cases, %d bad\n", (long long)cases, bad);
    return bad;
}

/* Storing a double rounds once: just beside the middle of two neighbours a first rounding to f32 would lose the side.
 * element_encode, which the table tests, is the yardstick. */
static int run_double_rounding(void)
{
    const pto_dtype types[] = {PTO_F16, PTO_BF16};
    int bad = 0;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        const uint32_t infinity = types[k] == PTO_F16 ? 0x7c00 : 0x7f80;
        for (uint32_t i = 0; i + 1 < infinity; i++) {
            const uint16_t pair[] = {(uint16_t)i, (uint16_t)(i + 1)};
            double x[2];
            element_read_f64(types[k], pair, 1, 2, x);
            const double middle = (x[0] + x[1]) / 2, near[] = {middle, middle * (1 - 0x1p-50), -middle * (1 + 0x1p-50)};
            uint16_t got[3];
            element_write_f64(types[k], got, 1, 3, near);
            for (int j = 0; j < 3; j++) bad += got[j] != element_encode(types[k], near[j], ROUND_RINT, false);
        }
    }
    if (bad) printf("%d doubles are rounded twice\n", bad);
    return bad;
}

/* What element_decode makes of a pattern by the definition is what the conversions of the types make of it, the sign of
 * NaN included. */
static int run_patterns(void)
{
    const pto_dtype types[] = {PTO_F16, PTO_BF16, PTO_F8E4M3, PTO_F8E5M2};
    int bad = 0;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        for (uint32_t bits = 0; bits < 1u << 8 * element_bytes(types[k]); bits++) {
            double x;
            element_read_f64(types[k], &bits, 1, 1, &x);
            const double y = element_decode(types[k], bits);
            bad += isnan(x) != isnan(y) || signbit(x) != signbit(y) || (x == x && x != y);
        }
    }
    if (bad) printf("%d patterns are decoded to something else\n", bad);
    return bad;
}

static uint8_t memory[1 << 16];

static tile_ref tile(pto_dtype t, int64_t rows, int64_t cols)
{
    return (tile_ref){.base = memory,
                      .bytes = 4096,
                      .dtype = t,
                      .role = PTO_ROLE_SCRATCHPAD,
                      .order = PTO_ORDER_ROW,
                      .rows = rows,
                      .cols = cols,
                      .valid_rows = rows,
                      .valid_cols = cols};
}

static int fails(insn_id id, insn_call call, const char *text)
{
    for (int i = 0; i < 3; i++) call.src[i].base = memory + 8192 * (i + 1);
    memset(memory, 0x5a, sizeof memory);
    const pto_status s = insn_run(id, &call);
    bool same = true;
    for (size_t i = 0; i < sizeof memory; i++) same = same && memory[i] == 0x5a;
    if (s == PTO_FAILED && strcmp(call.text, text) == 0 && same) return 0;
    printf("must fail%s:\n    got  %s\n    want %s\n", same ? "" : " and leave memory alone",
           s == PTO_OK ? "ok" : call.text, text);
    return 1;
}

/* All bytes of sources are 0x5a. */
static int fails_by_index(void)
{
    const tile_ref row = tile(PTO_F32, 1, 16), two = tile(PTO_F32, 2, 16), at = tile(PTO_I32, 1, 8),
                   few = tile(PTO_F32, 1, 8);
    int bad = fails(INSN_TGATHER, (insn_call){.dst = few, .src = {row, at}},
                    "tgather: index 1515870810 at column 0 is out of the 16 elements");
    bad += fails(INSN_TEXTRACT, (insn_call){.dst = few, .src = {row}, .at = {0, 9}},
                 "textract: 1 x 8 elements from [0, 9] on leave the valid region of 1 x 16");
    bad += fails(INSN_TEXTRACT, (insn_call){.dst = few, .src = {row}, .at = {-1, 0}},
                 "textract: 1 x 8 elements from [-1, 0] on leave the valid region of 1 x 16");
    bad += fails(INSN_TINSERT, (insn_call){.dst = row, .src = {row, few}, .at = {0, 9}},
                 "tinsert: 1 x 8 elements from [0, 9] on leave the valid region of 1 x 16");
    bad +=
        fails(INSN_TROWARGMAX, (insn_call){.dst = few, .src = {row}}, "trowargmax: places are f32, they must be i32");
    bad += fails(INSN_TCONCAT, (insn_call){.dst = row, .src = {row, few}}, "tconcat: 16 valid columns for 16 and 8");
    bad += fails(INSN_TSCATTER, (insn_call){.dst = row, .src = {row, few, at}},
                 "tscatter: index 1515870810 at column 0 is out of the 16 elements");
    bad += fails(INSN_TGATHER, (insn_call){.dst = row, .src = {row, at}}, "tgather: 1 x 8 indices for 1 x 16 elements");
    bad += fails(INSN_TGATHER, (insn_call){.dst = few, .src = {two, at}}, "tgather: more than one row");
    bad += fails(INSN_TGATHER, (insn_call){.dst = few, .src = {row, few}},
                 "tgather: the indices are f32, they must be i32");
    bad += fails(INSN_TSCATTER, (insn_call){.dst = row, .src = {row, at, at}},
                 "tscatter: source 2 is i32, the destination f32: they must be equal");
    return bad;
}

static int fails_to_sort(void)
{
    const tile_ref row = tile(PTO_F32, 1, 64), at = tile(PTO_I32, 1, 64), to = tile(PTO_REC64, 1, 64),
                   few = tile(PTO_REC64, 1, 8), odd = tile(PTO_F32, 1, 40), two = tile(PTO_REC64, 2, 32);
    int bad = fails(INSN_TSORT32, (insn_call){.dst = to, .src = {row, row}},
                    "tsort32: records are rec64, of keys in f32 and indices in i32");
    bad += fails(INSN_TSORT32, (insn_call){.dst = tile(PTO_REC64, 1, 40), .src = {odd, tile(PTO_I32, 1, 40)}},
                 "tsort32: 40 columns are not a multiple of 32");
    bad += fails(INSN_TSORT32, (insn_call){.dst = two, .src = {tile(PTO_F32, 2, 32), tile(PTO_I32, 2, 32)}},
                 "tsort32: more than one row");
    bad +=
        fails(INSN_TMRGSORT, (insn_call){.dst = to, .src = {few}, .run = 32}, "tmrgsort: 64 records are wanted of 8");
    bad += fails(INSN_TMRGSORT, (insn_call){.dst = few, .src = {to}, .run = 48},
                 "tmrgsort: a run of 48 is not a multiple of 32");
    bad += fails(INSN_TMRGSORT, (insn_call){.dst = at, .src = {at}, .run = 32},
                 "tmrgsort: records are i32, they must be rec64");
    bad += fails(INSN_TMRGSORT_LISTS, (insn_call){.dst = few, .src = {to, row}},
                 "tmrgsort_lists: source 2 is f32, the destination rec64: they must be equal");
    bad += fails(INSN_TMRGSORT_LISTS, (insn_call){.dst = few, .src = {two, few}}, "tmrgsort_lists: more than one row");
    bad += fails(INSN_TGATHER_MASK, (insn_call){.dst = row, .src = {to}},
                 "tgather_mask: f32 of rec64: records are rec64, their indices i32");
    bad += fails(INSN_TRESHAPE, (insn_call){.dst = row, .src = {to}},
                 "treshape: elements of rec64 and f32 are not of one width");
    return bad;
}

/* Windows of `w` for the 8 x 16 elements of a store by factors. */
static int fails_to_order(void)
{
    const tile_ref row = tile(PTO_F32, 2, 16), at = tile(PTO_I32, 2, 8), to = tile(PTO_F32, 2, 8);
    int bad = fails(INSN_TORDER, (insn_call){.dst = to, .src = {row}}, "torder: places are f32, they must be i32");
    bad += fails(INSN_TORDER, (insn_call){.dst = tile(PTO_I32, 1, 8), .src = {row}},
                 "torder: 1 x 8 places in rows of 2 x 16");
    bad += fails(INSN_TORDER, (insn_call){.dst = tile(PTO_I32, 2, 17), .src = {row}},
                 "torder: 2 x 17 places in rows of 2 x 16");
    bad += fails(INSN_TORDER, (insn_call){.dst = at, .src = {tile(PTO_BOOL, 2, 16)}},
                 "torder: element type bool is not a number that ops compute in");
    bad += fails(INSN_TROWGATHER, (insn_call){.dst = to, .src = {row, at}},
                 "trowgather: index 1515870810 at row 0 is out of the 16 elements");
    bad += fails(INSN_TROWGATHER, (insn_call){.dst = to, .src = {tile(PTO_F32, 3, 16), at}},
                 "trowgather: 2 rows of indices for 3");
    bad += fails(INSN_TROWGATHER, (insn_call){.dst = to, .src = {row, to}},
                 "trowgather: the indices are f32, they must be i32");
    return bad;
}

static int run_failures_of_factors(gm_window w)
{
    int bad = 0;
    const tile_ref f = tile(PTO_F32, 8, 16);
    bad += fails(INSN_TSTORE_FP, (insn_call){.src = {f, f}, .gm = w},
                 "tstore_fp: f32 does not leave as f32: only i32 in `acc` as f16, i8 and u8, f32 as i8 and u8");
    tile_ref sums = f;
    sums.role = PTO_ROLE_ACCUMULATOR;
    w.dtype = PTO_U8;
    bad += fails(INSN_TSTORE_FP, (insn_call){.src = {sums, f}, .gm = w},
                 "tstore_fp: f32 factors, 8 x 16, for 16 columns: it takes 1 x 32 of f32");
    bad += fails(INSN_TSTORE_FP, (insn_call){.src = {sums, tile(PTO_F32, 1, 32)}, .gm = w},
                 "tstore_fp: the second word of column 0 is 0x5a5a5a5a, for u8 it is 0x0");
    const tile_ref bytes = tile(PTO_U8, 8, 16), words = tile(PTO_F32, 1, 32);
    bad += fails(INSN_TMOV_FP, (insn_call){.dst = bytes, .src = {f, words}}, "tmov_fp: f32 leaves as i8 alone on chip");
    bad += fails(INSN_TMOV_FP, (insn_call){.dst = tile(PTO_I8, 8, 16), .src = {sums, f}},
                 "tmov_fp: f32 factors, 8 x 16, for 16 columns: it takes 1 x 32 of f32");
    bad += fails(INSN_TEXTRACT_FP, (insn_call){.dst = tile(PTO_I8, 8, 8), .src = {sums, words}, .at = {0, 8}},
                 "textract_fp: column 8 is not a multiple of 16, at which factors begin");
    bad += fails(INSN_TINSERT_FP, (insn_call){.dst = tile(PTO_I8, 8, 8), .src = {tile(PTO_I8, 8, 8), sums, words}},
                 "tinsert_fp: 8 x 16 elements from [0, 0] on leave the valid region of 8 x 8");
    return bad;
}

static int run_failures(void)
{
    int bad = 0;
    const tile_ref f = tile(PTO_F32, 8, 16), i = tile(PTO_I32, 8, 16);
    tile_ref x = f;
    x.valid_rows = 9;
    bad +=
        fails(INSN_TEXP, (insn_call){.dst = x, .src = {f}},
              "texp: the destination has a valid region beyond its capacity (8 x 16 x f32, valid 9 x 16, 4096 bytes)");
    x = f;
    x.valid_rows = 7;
    bad += fails(INSN_TADD, (insn_call){.dst = f, .src = {f, x}},
                 "tadd: source 2 has a valid region of 7 x 16, it must be 8 x 16");
    bad += fails(INSN_TADD, (insn_call){.dst = f, .src = {i, f}},
                 "tadd: source 1 is i32, the destination f32: they must be equal");
    bad += fails(INSN_TEXP, (insn_call){.dst = i, .src = {i}}, "texp: element type i32 is not a float type");
    bad += fails(INSN_TADD,
                 (insn_call){.dst = tile(PTO_F8E4M3, 8, 16), .src = {tile(PTO_F8E4M3, 8, 16), tile(PTO_F8E4M3, 8, 16)}},
                 "tadd: element type f8e4m3 is not a number that ops compute in");
    x = f;
    x.bytes = 511;
    bad += fails(INSN_TNEG, (insn_call){.dst = f, .src = {x}},
                 "tneg: source 1 reaches past the end of its buffer (8 x 16 x f32, valid 8 x 16, 511 bytes)");
    x = f;
    x.order = PTO_ORDER_COLUMN_ROW;
    bad += fails(
        INSN_TMOV, (insn_call){.dst = f, .src = {x}},
        "tmov: source 1 has a capacity that is not a multiple of its box (8 x 16 x f32, valid 8 x 16, 4096 bytes)");
    bad += fails(INSN_TROWMAX, (insn_call){.dst = f, .src = {f}},
                 "trowmax: the destination has a valid region of 8 x 16, it must be 8 x 1");
    bad += fails(INSN_TMATMUL, (insn_call){.dst = f, .src = {tile(PTO_F32, 8, 4), tile(PTO_F32, 5, 16)}},
                 "tmatmul: valid regions do not fit: 8 x 16 = 8 x 4 times 5 x 16");
    bad += fails(INSN_TMATMUL, (insn_call){.dst = f, .src = {tile(PTO_I8, 8, 4), tile(PTO_I8, 4, 16)}},
                 "tmatmul: i8 products are summed in i32, the destination is f32");
    gm_window w = {.base = memory + 32768,
                   .bytes = 4000,
                   .dtype = PTO_F32,
                   .rank = 2,
                   .dims = {20, 50},
                   .strides = {50, 1},
                   .offsets = {13, 0},
                   .rows = 8,
                   .cols = 16};
    bad += fails(INSN_TLOAD, (insn_call){.dst = f, .gm = w},
                 "tload: the window leaves the array: dim 0 has extent 20, needed are 8 from 13 on");
    bad += fails(INSN_TSTORE, (insn_call){.src = {f}, .gm = w},
                 "tstore: the window leaves the array: dim 0 has extent 20, needed are 8 from 13 on");
    w.offsets[0] = 12;
    bad += fails(INSN_TSTORE, (insn_call){.src = {f}, .gm = w, .has_scale = true, .scale = 2},
                 "tstore: f32 is not scaled to f32: only f32 and i32 in `acc` are, to f16, i8 and u8, f32 to bf16 too");
    bad += run_failures_of_factors(w);
    bad += fails(INSN_TSTORE, (insn_call){.src = {f}, .gm = w, .relu = true},
                 "tstore: only f32 in `acc` passes a relu on its way");
    w.offsets[1] = -1;
    bad += fails(INSN_TLOAD, (insn_call){.dst = f, .gm = w},
                 "tload: the window leaves the array: dim 1 has extent 50, needed are 16 from -1 on");
    w.offsets[1] = 34;
    w.bytes = 3999;
    bad +=
        fails(INSN_TLOAD, (insn_call){.dst = f, .gm = w}, "tload: the window reaches past the 3999 bytes of the array");
    w.bytes = 4000;
    w.rows = 7;
    bad += fails(INSN_TLOAD, (insn_call){.dst = f, .gm = w}, "tload: a window of 7 x 16 for a valid region of 8 x 16");
    w.rows = 8;
    w.dtype = PTO_I32;
    bad += fails(INSN_TLOAD, (insn_call){.dst = f, .gm = w}, "tload: the array is i32, the tile f32");
    bad += fails(
        INSN_TTRANS, (insn_call){.dst = tile(PTO_F32, 16, 8), .src = {x}},
        "ttrans: source 1 has a capacity that is not a multiple of its box (8 x 16 x f32, valid 8 x 16, 4096 bytes)");
    bad += fails(INSN_TGETVAL, (insn_call){.src = {f}, .at = {8, 0}},
                 "tgetval: element [8, 0] is outside of the valid region of 8 x 16");
    bad += fails(INSN_TGETVAL, (insn_call){.src = {tile(PTO_F8E4M3, 8, 16)}},
                 "tgetval: element type f8e4m3 is not a number that ops compute in");
    bad += fails_by_index();
    bad += fails_to_sort();
    bad += fails_to_order();
    bad += fails(INSN_NONE, (insn_call){0}, "no such instruction");
    return bad;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bench_one(insn_id id, insn_call call, double work, const char *unit)
{
    const double start = seconds();
    int times = 0;
    for (; seconds() - start < 0.3; times++) {
        if (insn_run(id, &call) != PTO_OK) {
            printf("%s\n", call.text);
            return;
        }
    }
    printf("%-14s %-4s %8.3f G%s/s\n", insn_name(id), pto_dtype_name(call.src[0].dtype),
           work * times / (seconds() - start) * 1e-9, unit);
}

static void bench(void)
{
    enum { R = 64, C = 256 };
    uint8_t *bytes = calloc(4, (size_t)1 << 20);
    if (bytes == NULL) exit(2);
    const insn_id ids[] = {INSN_TADD,    INSN_TMAX,    INSN_TDIV, INSN_TEXP, INSN_TROWEXPANDSUB,
                           INSN_TROWSUM, INSN_TROWMAX, INSN_TCVT, INSN_TMOV};
    const pto_dtype types[] = {PTO_F32, PTO_BF16};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        for (size_t n = 0; n < sizeof ids / sizeof *ids; n++) {
            insn_call call = {.cpu = insn_cpu()};
            tile_ref *all[] = {&call.dst, &call.src[0], &call.src[1]};
            for (int i = 0; i < 3; i++) {
                *all[i] = tile(types[k], R, C);
                all[i]->base = bytes + ((size_t)i << 20);
                all[i]->bytes = (size_t)1 << 20;
            }
            if (ids[n] == INSN_TROWSUM || ids[n] == INSN_TROWMAX) call.dst.valid_cols = 1;
            if (ids[n] == INSN_TROWEXPANDSUB) call.src[1].valid_cols = 1;
            if (ids[n] == INSN_TCVT) call.dst.dtype = types[1 - k];
            bench_one(ids[n], call, (double)((int)R * (int)C), "elem");
        }
        insn_call call = {.cpu = insn_cpu(),
                          .dst = tile(PTO_F32, 128, 256),
                          .src = {tile(types[k], 128, 128), tile(types[k], 128, 256)}};
        call.dst.base = bytes;
        call.src[0].base = bytes + (1 << 20);
        call.src[1].base = bytes + (2 << 20);
        call.dst.bytes = call.src[0].bytes = call.src[1].bytes = (size_t)1 << 20;
        call.dst.order = PTO_ORDER_COLUMN_ROW;
        call.src[0].order = PTO_ORDER_ROW_ROW;
        call.src[1].order = PTO_ORDER_ROW_COLUMN;
        call.dst.role = PTO_ROLE_ACCUMULATOR;
        bench_one(INSN_TMATMUL, call, 128.0 * 128 * 256, "fma");
    }
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[2], "--bench") == 0) {
        bench();
        return 0;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: test_insn TABLE [--bench]\n");
        return 2;
    }
    size_t n;
    uint8_t *bytes = table_load(argv[1], &n);
    const int bad = run_table(bytes, n) + run_double_rounding() + run_patterns() + run_failures();
    free(bytes);
    return bad != 0;
}
