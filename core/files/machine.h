/* Machine files: what the compiler knows about a chip, `pto-machine: 1`. No pass holds a number of a chip; it asks
 * here.
 *
 * Units: bytes, cycles of `clock_hz`, bytes per cycle. All text and arrays live in the arena the machine was read into;
 * a machine is constant afterwards and may be read by any thread. Names of spaces, layouts and pipes are free: those
 * of ir/ops have their roles, others say theirs. */
#ifndef CORE_FILES_MACHINE_H
#define CORE_FILES_MACHINE_H

#include "core/files/schema.h"
#include "ir/context/role_names.h"

/* One kind of core. Each of its pipes runs its instructions in order, beside the other pipes. */
typedef struct machine_core {
    const char *name;
    int64_t count;       /* on the chip */
    int64_t per_cluster; /* cores of this kind that can signal each other */
    const char *const *pipes;
    uint32_t pipe_count;
} machine_core;

/* One memory. A core kind owns one instance for each core; `core` NULL: one for the chip. */
typedef struct machine_space {
    const char *name, *core;
    int64_t bytes, reserved_bytes; /* the last `reserved_bytes` are not for tiles */
    int64_t align_bytes;           /* of each buffer; a power of two */
    const char *alias;             /* space whose bytes it shares, or NULL */
    const char *const *layouts;    /* that a tile may have in it; the first is the usual one */
    uint32_t layout_count;
} machine_space;

/* "nd" becomes "nz" */
typedef struct machine_change {
    const char *from, *to;
} machine_change;

/* A legal move between two spaces. A transfer of n bytes takes n / bytes_per_cycle cycles of the pipe, more when
 * transfers share a space of the chip; the latency come first when the pipe was idle, since transfers in sequence
 * overlap theirs. */
typedef struct machine_path {
    const char *from, *to, *core, *pipe;
    double bytes_per_cycle;
    int64_t latency_cycles;
    const machine_change *layouts; /* layout on either side; at least one */
    uint32_t layout_count;
    const machine_change *casts; /* element types it can change on the way; equal types always pass */
    uint32_t cast_count;
} machine_path;

/* What passes and backends ask by path alone is not here: see machine_query_i64. */
typedef struct machine {
    const char *name, *doc, *file;
    const role_names *names; /* of its spaces, pipes and layouts, with their roles */
    int64_t clock_hz;
    const machine_core *cores;
    uint32_t core_count;
    const machine_space *spaces;
    uint32_t space_count;
    const machine_path *paths;
    uint32_t path_count;
    double shared_bytes_per_cycle; /* of gm, divided among the transfers that run; 0: no limit */
    const yaml_node *root;         /* the checked file, for machine_query_* */
} machine;

extern const schema_file machine_schema;

/* Reads and checks the file at `path`; the machine lives in `a`. Fails after a diagnostic. */
MUST_CHECK status machine_read(arena *a, diag_engine *d, const char *path, const machine **out_machine);
/* From text in memory; `file` names it in messages and is kept. */
MUST_CHECK status machine_read_text(arena *a, diag_engine *d, const char *file, str text, const machine **out_machine);

/* NULL when the machine has none of that name. */
const machine_core *machine_core_by_name(const machine *m, str name);
const machine_space *machine_space_by_name(const machine *m, str name);
/* NULL when there is no such move. `core` may be NULL: of any kind. */
const machine_path *machine_path_find(const machine *m, str from, str to, const char *core);
/* What a space of the machine is for; SPACE_ROLE_NONE when it has none of that name. */
space_role machine_space_role(const machine *m, const char *name);
/* The space that inputs and outputs are in. */
const machine_space *machine_global(const machine *m);
/* What tiles may fill. */
int64_t machine_space_usable_bytes(const machine_space *s);

/* Any value of the file by path: the keys joined by dots, for example "clock-hz", "spaces.vec.bytes",
 * "cores.vector.count", "instructions.add.head", "matrix.cycles-per-box.f16". Paths between spaces are
 * "paths.<from>.<to>.bytes-per-cycle", of the first such path. "spaces.<name>.usable-bytes" is bytes without the
 * reserved. Defaults count. Sequences of names read as text joined by commas. False: no such value, or another type. */
bool machine_query_i64(const machine *m, str path, int64_t *out);
bool machine_query_f64(const machine *m, str path, double *out);
/* The text lives in `a` or in the machine. */
bool machine_query_str(arena *a, const machine *m, str path, str *out);

#endif
