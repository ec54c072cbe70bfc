#include "tools/reduce/reduce.h"

#include "ir/base/monotonic.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "tools/base/digest.h"

#include <string.h>

/* ---- bounds, and what was tried ---- */

static bool is_at_bound(reducer *r)
{
    r->is_stopped =
        r->is_stopped || r->tests >= r->tests_max || (r->deadline_ns != 0 && monotonic_ns() >= r->deadline_ns);
    return r->is_stopped;
}

/* Open addressing; 0 is an empty place. */
static bool put_digest(uint64_t *table, uint32_t capacity, uint64_t digest)
{
    for (uint32_t i = (uint32_t)digest & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
        if (table[i] == digest) return false;
        if (table[i] != 0) continue;
        table[i] = digest;
        return true;
    }
}

static bool is_new(reducer *r, str text)
{
    const uint64_t digest = digest_add(DIGEST_OF_NOTHING, text.p, text.n) | 1;
    if (2 * r->tried_count >= r->tried_capacity) {
        const uint32_t capacity = r->tried_capacity == 0 ? 1024 : 2 * r->tried_capacity;
        uint64_t *table = arena_array(r->arena, capacity, sizeof *table);
        for (uint32_t i = 0; i < r->tried_capacity; i++)
            if (r->tried[i] != 0) (void)put_digest(table, capacity, r->tried[i]);
        r->tried = table;
        r->tried_capacity = capacity;
    }
    const bool is_put = put_digest(r->tried, r->tried_capacity, digest);
    r->tried_count += is_put;
    return is_put;
}

bool reduce_try(reducer *r, str text)
{
    if (is_at_bound(r) || !is_new(r, text)) return false;
    r->tests++;
    if (!r->keeps(r->self, text)) return false;
    r->best = (str){arena_strndup(r->arena, text.p, text.n), text.n};
    return true;
}

/* ---- modules ---- */

module *reduce_module(reducer *r, str text)
{
    module *m = NULL;
    diag_hush(r->diags, true);
    if (parse_module(r->context, text, r->file, &m) != OK) m = NULL;
    diag_hush(r->diags, false);
    return m;
}

static bool verifies(reducer *r, module *m)
{
    diag_hush(r->diags, true);
    const bool is_valid = module_verify(m) == OK;
    diag_hush(r->diags, false);
    return is_valid;
}

bool reduce_try_module(reducer *r, module *m)
{
    text_buffer t;
    if (is_at_bound(r)) return false;
    module_settle(m);
    if (r->verifies && !verifies(r, m)) return false;
    text_init(&t);
    module_print(m, NULL, &t);
    const bool is_taken = reduce_try(r, (str){t.p, t.n});
    text_fini(&t);
    return is_taken;
}

uint32_t reduce_count_ops(reducer *r, str text)
{
    module *m = reduce_module(r, text);
    const uint32_t count = m != NULL ? module_count_ops(m) : 0;
    module_destroy(m);
    return count;
}

/* ---- the whole ---- */

void reduce_again(reducer *r)
{
    bool is_smaller = true;
    while (is_smaller && !is_at_bound(r)) {
        is_smaller = false;
        if (r->parses) {
            is_smaller |= reduce_ir(r);
            is_smaller |= reduce_words(r);
        } else {
            is_smaller |= reduce_lines(r);
        }
    }
}

void reduce_run(reducer *r, str text)
{
    r->best = (str){arena_strndup(r->arena, text.p, text.n), text.n};
    module *m = reduce_module(r, text);
    r->parses = m != NULL;
    r->verifies = m != NULL && verifies(r, m);
    /* As it is printed from here on: locations and comments are of the user's file. */
    if (m != NULL && !reduce_try_module(r, m)) r->parses = r->verifies = false;
    module_destroy(m);
    reduce_again(r);
}
