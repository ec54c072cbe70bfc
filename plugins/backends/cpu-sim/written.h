/* Which elements of global memory were written: of outputs and workspaces, whose content is undefined before. With data
 * alone. */
#ifndef PTO_CPU_SIM_WRITTEN_H
#define PTO_CPU_SIM_WRITTEN_H

#include "semantics/program.h"

/* An allocation, by its root number. */
typedef struct gm_root {
    pto_op at;    /* the function of a parameter, the op of a workspace */
    pto_str name; /* of the value, without `%` */
    program_array array;
    uint8_t *marks; /* 1: written, one for each of its bytes; NULL: all of it is */
} gm_root;

typedef struct written_memory {
    const pto_run *run;
    gm_root *roots;
    uint32_t count, capacity;
} written_memory;

/* No roots; memory is scratch of the run. */
void written_init(const pto_run *run, written_memory *w);
/* The next root. `is_written`: it has its content. Otherwise its bytes become 0xff, so that no number of an earlier run
 * or a plausible 0 is taken for one, unless others are in its memory (`is_shared`). */
void written_add(written_memory *w, pto_op at, pto_str name, const program_array *array, bool is_written,
                 bool is_shared);

/* The elements of the window have been written. */
void written_mark(written_memory *w, uint32_t root, const gm_window *window);
/* The first element of the window that nothing wrote, counted from the start of the root; -1: none. */
int64_t written_find_blank(const written_memory *w, uint32_t root, const gm_window *window);
/* The same of all elements of an array: base, dims and strides of the window count. */
int64_t written_find_blank_of(const written_memory *w, uint32_t root, const gm_window *array);
/* How many of a root's elements nothing wrote, and the place of the first in row-major order when there is one. */
size_t written_count_blank(const gm_root *r, size_t *out_of, size_t *out_first);

#endif
