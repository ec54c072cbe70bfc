/* What the name of a counter says, by the rows of <pto/profile.h>. No memory is kept; names outlive what is read. */
#ifndef TOOLS_RUN_COUNTER_NAME_H
#define TOOLS_RUN_COUNTER_NAME_H

#include "ir/base/arena.h"
#include "ir/base/text.h"

#include <pto/profile.h>

typedef struct counter_name {
    str whole;
    pto_counter counter; /* PTO_COUNTER_NONE: no row has this name */
    bool is_stall;       /* by a cause of the profile or another */
    str unit;            /* "vector 03 / mte2"; empty: a counter of the run, or of no row */
    str group, pipe;     /* of `unit`: "vector 03", "mte2"; without " / " all is the group */
    str what;            /* the last part: "busy", "cycles", the cause "flag" */
} counter_name;

/* Takes a name apart. Its parts are views of `name`. */
counter_name counter_name_read(str name);
/* The stall of that cause; PTO_COUNTER_NONE: no row has it. */
pto_counter counter_of_cause(str cause);
/* The counter that a backend declares so: "cycles", "busy", "stall / flag". */
pto_counter counter_declared(str name);
/* What a backend could mean by a name that it declares; NULL when nothing is near. The text lives in `a`. */
const char *counter_nearest(str name, arena *a);
/* As a backend declares it. */
void counter_put_declaration(pto_counter counter, text_buffer *out);
/* Whether a name is one of the backend's own: it begins with its id and a space. */
bool counter_is_own(const pto_backend *b, str name);
/* Whether the backend declares the counter of this name, or may give it without a declaration: one of its own,
 * or any when it declares none. */
bool counter_may_be_given(const pto_backend *b, const counter_name *name);

#endif
