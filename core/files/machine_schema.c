/* The keys of machine files. */
#include "core/files/machine.h"
#include "ir/relations.h"

static const char *const unit_roles[] = {
#define UNIT(id, role, ...) role,
#include "ir/ops/units.def"
    NULL};

static const char *const space_roles[] = {
#define SPACE_ROLE(id, text, doc) text,
#include "ir/ops/types.def"
    NULL};

static const char *const layout_orders[] = {
#define LAYOUT_ORDER(id, text, ...) text,
#include "ir/ops/types.def"
    NULL};

static const char *const dtype_names[] = {
#define DTYPE(id, text, ...) text,
#include "ir/ops/types.def"
    NULL};

static const char *const instruction_names[] = {
#define INSN(id, name, ...) name,
#define INSN_ONLY(id, name, ...)
#include "ir/ops/pto.def"
    NULL};

static const char *const barrier_words[] = {"needed", "forbidden", NULL};

/* A row for each key. NEEDED: every file has it. Of a number: its type, what it is when absent, the least, the most. */
enum { OPTIONAL = false, NEEDED = true };
#define NUMBER(needed, key, of, absent, least, most, in, words) \
    {.name = (key),                                             \
     .type = VALUE_##of,                                        \
     .is_required = (needed),                                   \
     .def = (absent),                                           \
     .min = (least),                                            \
     .max = (most),                                             \
     .unit = (in),                                              \
     .doc = (words)}
#define CYCLES(key, absent, most, words) NUMBER(OPTIONAL, key, I64, absent, "0", most, "cycles", words)
#define FLAG(key, words) {.name = (key), .type = VALUE_BOOL, .def = "false", .doc = (words)}
#define TEXT(needed, key, words) {.name = (key), .type = VALUE_STR, .is_required = (needed), .doc = (words)}
#define NAME(needed, key, known, words) \
    {.name = (key), .type = VALUE_ENUM, .is_required = (needed), .choices = (known), .doc = (words)}
#define LIST(needed, key, of, words) \
    {.name = (key), .kind = SCHEMA_SEQUENCE, .element = (of), .is_required = (needed), .doc = (words)}
#define SECTION(needed, key, of, words) \
    {.name = (key), .kind = SCHEMA_MAPPING, .keys = (of), .is_required = (needed), .doc = (words)}
#define NAMED(needed, key, of, known, words) \
    {.name = (key), .kind = SCHEMA_NAMED, .element = (of), .choices = (known), .is_required = (needed), .doc = (words)}
#define END {.name = NULL}

static const schema_key pipe_item = TEXT(OPTIONAL, "a pipe", NULL);
static const schema_key pipe_role = NAME(OPTIONAL, "pipe", unit_roles, "the unit that it feeds");
static const schema_key pipes_by_name = NAMED(OPTIONAL, "pipes", &pipe_role, NULL, NULL);
static const schema_key layout_item = TEXT(OPTIONAL, "a layout", NULL);
static const schema_key layout_order_entry = NAME(OPTIONAL, "layout", layout_orders, NULL);
static const schema_key dtype_item = NAME(OPTIONAL, "an element type", dtype_names, NULL);
static const schema_key relation_item = NAME(OPTIONAL, "a relation", relation_word_list, NULL);
static const schema_key change_item = TEXT(OPTIONAL, "a change", "what is joined by -, as nd-nz");
static const schema_key dtype_list = LIST(OPTIONAL, "element type", &dtype_item, NULL);

static const schema_key core_keys[] = {
    NUMBER(NEEDED, "count", I64, NULL, "1", "65536", NULL, "cores of this kind on the chip"),
    NUMBER(OPTIONAL, "per-cluster", I64, "1", "1", "64", NULL, "cores of this kind in one cluster"),
    {.name = "pipes",
     .kind = SCHEMA_SEQUENCE,
     .element = &pipe_item,
     .or_named = &pipes_by_name,
     .is_required = true,
     .doc = "pipes of each core: standard names, or a mapping from names to roles"},
    END,
};
static const schema_key core_entry = SECTION(OPTIONAL, "core kind", core_keys, NULL);

static const schema_key space_keys[] = {
    NAME(OPTIONAL, "role", space_roles, "what it is for; a standard name says that"),
    TEXT(OPTIONAL, "core", "core kind that owns one for each core; without it: one for the chip"),
    NUMBER(NEEDED, "bytes", BYTES, NULL, "1", "64TiB", "bytes", "size"),
    NUMBER(OPTIONAL, "reserved", BYTES, "0", NULL, NULL, "bytes", "last bytes that tiles may not use"),
    NUMBER(OPTIONAL, "align", BYTES, "32", "1", "4096", "bytes", "alignment of each buffer, a power of two"),
    TEXT(OPTIONAL, "alias", "space whose bytes it shares"),
    LIST(NEEDED, "layouts", &layout_item, "layouts of tiles in it, the usual one first"),
    END,
};
static const schema_key space_entry = SECTION(OPTIONAL, "space", space_keys, NULL);

static const schema_key path_keys[] = {
    TEXT(NEEDED, "from", "source space"),
    TEXT(NEEDED, "to", "target space"),
    TEXT(NEEDED, "core", "core kind whose pipe moves the data"),
    TEXT(NEEDED, "pipe", "pipe that moves the data"),
    NUMBER(NEEDED, "bytes-per-cycle", F64, NULL, "0.001", "1000000", "bytes/cycle", "bandwidth of one core"),
    CYCLES("latency", "0", "1000000", "cycles before the first byte, when the pipe was idle"),
    LIST(NEEDED, "layouts", &change_item, "layouts before and after, as nd-nz"),
    LIST(OPTIONAL, "casts", &change_item, "element types it can change, as f32-bf16"),
    END,
};
static const schema_key path_item = SECTION(OPTIONAL, "a path", path_keys, NULL);

static const schema_key shared_keys[] = {
    NUMBER(OPTIONAL, "gm-bytes-per-cycle", F64, "0", "0", "1000000", "bytes/cycle",
           "global memory, all cores together; 0: no limit"),
    END,
};

static const schema_key vector_keys[] = {
    NUMBER(OPTIONAL, "repeat-bytes", I64, "256", "1", "65536", "bytes", "bytes that one repeat handles"),
    NUMBER(OPTIONAL, "block-bytes", I64, "32", "1", "4096", "bytes", "smallest unit of a vector access"),
    CYCLES("partial-repeat-cycles", "0", "10000", "extra when a length is not a multiple of repeat-bytes"),
    FLAG("fused", "a pto.fused region is one pass over the data"),
    FLAG("tmp", "reductions and row broadcasts need a scratch operand"),
    FLAG("denormals-are-zeros", "floats below the least normal one are taken, and made, as zeros"),
    LIST(NEEDED, "dtypes", &dtype_item, "element types of arithmetic"),
    NAMED(OPTIONAL, "conversions", &dtype_list, dtype_names, "for each source type the target types of a conversion"),
    END,
};

static const schema_key box_cycles = {
    .name = "element type", .type = VALUE_I64, .min = "1", .max = "10000", .unit = "cycles"};

static const schema_key matrix_keys[] = {
    CYCLES("head", "0", "100000", "cycles before the first box"),
    NUMBER(OPTIONAL, "dim-max", I64, "4095", "1", "1000000", NULL, "largest m, k and n of one instruction"),
    NUMBER(OPTIONAL, "box-rows", I64, "16", "1", "1024", NULL, "rows of one box of an operand"),
    NUMBER(OPTIONAL, "box-row-bytes", I64, "32", "1", "4096", "bytes", "bytes of one row of such a box"),
    NUMBER(OPTIONAL, "acc-box-rows", I64, "16", "1", "1024", NULL, "rows of one box of the result"),
    NUMBER(OPTIONAL, "acc-box-cols", I64, "16", "1", "1024", NULL, "columns of one box of the result"),
    NUMBER(OPTIONAL, "dim-min", I64, "0", "0", "1", NULL,
           "least m, k and n of one instruction; 0: a product of nothing makes zeros"),
    FLAG("packed",
         "boxes of operands and results follow each other by valid regions: tiles that are not full say `compact`"),
    FLAG("store-relu", "stores from the accumulator can make 0 of what is below"),
    NAMED(OPTIONAL, "store-scaled", &dtype_list, dtype_names,
          "types that scaled stores make, by type of the accumulator"),
    NAMED(OPTIONAL, "store-scaled-columns", &dtype_list, dtype_names,
          "the same with a factor for each column (`pto.tstore_fp`)"),
    NAMED(NEEDED, "cycles-per-box", &box_cycles, dtype_names, "cycles of one product of two boxes, by operand type"),
    END,
};

static const schema_key cost_keys[] = {
    CYCLES("head", "0", "100000", "once, when the pipe was idle"),
    CYCLES("per-repeat", "0", "100000", "for each repeat-bytes of a row"),
    CYCLES("per-row", "0", "100000", "for each row"),
    CYCLES("tail", "0", "100000", "once, when something waits for the result"),
    FLAG("one-row", "a tile without gaps between its rows is one row"),
    LIST(OPTIONAL, "dtypes", &dtype_item, "element types, when they differ from vector.dtypes"),
    END,
};
static const schema_key cost_entry = SECTION(OPTIONAL, "cost class", cost_keys, NULL);

static const schema_key fact_keys[] = {
    NUMBER(OPTIONAL, "in-place", BOOL, "true", NULL, NULL, NULL, "its result may take the place of an operand"),
    LIST(OPTIONAL, "scalar-through-f32", &dtype_item, "element types whose scalar operand passes through an f32"),
    NUMBER(OPTIONAL, "pads-to", BYTES, "0", NULL, NULL, "bytes",
           "what `pad` fills: each row to a multiple of so many bytes, and no rows; 0: the whole tile"),
    FLAG("dense-lines", "elements of a line of its tile follow each other in memory"),
    LIST(OPTIONAL, "relations", &relation_item,
         "relations that it has in `relation-dtypes`; for another one it takes the first"),
    LIST(OPTIONAL, "relation-dtypes", &dtype_item, "element types in which it has these alone; without it: all"),
    LIST(OPTIONAL, "through-f32", &dtype_item,
         "element types that it takes beside those of its class, and computes in as f32"),
    LIST(OPTIONAL, "destroys", &dtype_item, "element types in which its last source holds nothing afterwards"),
    FLAG("row-major", "tiles of rows and columns that it takes have their rows one after the other"),
    FLAG("below-width", "it shifts by 0 to the width of the element type less one, and by nothing else"),
    FLAG("approximate-without-scratch", "without a scratch operand its results are approximate"),
    LIST(OPTIONAL, "saturates", &change_item, "conversions that clamp whatever is asked, as f32-i32"),
    LIST(OPTIONAL, "odd", &change_item, "conversions that round to odd, as f32-f16; without it: all"),
    LIST(OPTIONAL, "events", &change_item, "events that its own code uses while it runs, as v-s-0"),
    LIST(OPTIONAL, "event-dtypes", &dtype_item, "element types in which it does; without it: all"),
    END,
};
static const schema_key fact_entry = SECTION(OPTIONAL, "instruction", fact_keys, NULL);

static const schema_key barrier_entry = NAME(OPTIONAL, "pipe", barrier_words, NULL);
static const schema_key sync_keys[] = {
    NUMBER(OPTIONAL, "event-ids", I64, "8", "1", "64", NULL, "event ids of each ordered pair of pipes"),
    CYCLES("flag-cycles", "1", "10000", "cost of set_flag and wait_flag"),
    CYCLES("barrier-cycles", "1", "10000", "cost of a barrier beside the waiting"),
    NAMED(OPTIONAL, "barriers", &barrier_entry, NULL,
          "pipes on which instructions that depend on each other need a barrier between them, or may not have one"),
    END,
};

static const schema_key dispatch_keys[] = {
    CYCLES("launch-cycles", "0", "100000000", "from the host's call to the first block"),
    CYCLES("block-cycles", "0", "100000000", "to start one block of a grid on a core"),
    CYCLES("task-cycles", "0", "100000000", "to hand a task whose inputs are ready to a queue"),
    END,
};

static const schema_key top_keys[] = {
    SCHEMA_VERSION_1("pto-machine"),
    TEXT(NEEDED, "name", "name of the machine"),
    TEXT(OPTIONAL, "doc", "what it is"),
    TEXT(OPTIONAL, "arch", "its architecture, by the name that code generators have for it: a3, a5"),
    NUMBER(NEEDED, "clock-hz", I64, NULL, "1000", "1000000000000", "Hz", "clock of all cycle numbers"),
    NAMED(OPTIONAL, "layouts", &layout_order_entry, NULL,
          "layouts beside the standard ones, by name: how elements lie"),
    NAMED(NEEDED, "cores", &core_entry, NULL, "kinds of cores, by name"),
    NAMED(NEEDED, "spaces", &space_entry, NULL, "memories, by name"),
    LIST(NEEDED, "paths", &path_item, "legal moves between memories"),
    SECTION(OPTIONAL, "shared", shared_keys, "bandwidth that cores share"),
    SECTION(NEEDED, "vector", vector_keys, "the vector unit"),
    SECTION(OPTIONAL, "matrix", matrix_keys, "the matrix unit"),
    NAMED(NEEDED, "instructions", &cost_entry, NULL, "costs by class; `default` stands for the rest"),
    NAMED(OPTIONAL, "facts", &fact_entry, instruction_names,
          "what instructions do on the chip beyond what they mean, by name without `pto.`"),
    SECTION(OPTIONAL, "sync", sync_keys, "flags and barriers"),
    SECTION(OPTIONAL, "dispatch", dispatch_keys, "starting work on cores"),
    END,
};

const schema_file machine_schema = {
    .kind = "machine",
    .version_key = "pto-machine",
    .version = 1,
    .keys = top_keys,
    .doc = "What the compiler knows about a chip: cores, memories, paths, costs.",
};
