#include "tools/build/build_settings.h"

#include "tools/base/tool_diag.h"

#include <native_flags.h>

/* Bytes of a vector of generated code: those of a register of the machine. */
static int64_t vector_bytes_of(const machine *m)
{
    int64_t n = 32;
    if (m != NULL) (void)machine_query_i64(m, STR("vector.repeat-bytes"), &n);
    return n >= 64 ? 64 : n >= 32 ? 32 : 16;
}

/* The widest vectors with instructions, by what the option `isa` says; false: another word. */
static bool read_isa(str isa, build_request *q)
{
    static const struct {
        const char *isa;
        uint32_t bytes;
    } rows[] = {{"avx512", 64}, {"avx2", 32}, {"plain", 16}};
    if (str_is(isa, "host")) return true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!str_is(isa, rows[i].isa)) continue;
        q->isa_bytes = rows[i].bytes;
        return true;
    }
    return false;
}

/* Whether an option has an effect on a library of the kind. A source is compiled by others. */
static bool read_option(const char *name, const value *v, build_request *q)
{
    const bool is_compiled = q->kind != BUILD_SOURCE;
    if (strcmp(name, "isa") == 0 && v->type == VALUE_ENUM) return read_isa(v->s, q);
    if (strcmp(name, "compiler") == 0 && v->type == VALUE_STR) {
        q->compiler = v->s.n > 0 ? v->s.p : NULL;
        return is_compiled;
    }
    if (strcmp(name, "compile-seconds") == 0 && v->type == VALUE_I64) {
        q->seconds_max = (double)v->i;
        return is_compiled;
    }
    return false;
}

status build_settings_read(diag_engine *d, const loaded_pipeline *p, build_request *q)
{
    const run_agent *backend = p->backend_agent;
    status result = OK;
    q->vector_bytes = vector_bytes_of(p->machine);
    q->isa_bytes = p->machine != NULL ? (uint32_t)q->vector_bytes : native_host_vector_bytes();
    for (uint32_t i = 0; i < option_count(backend->options); i++) {
        const value *v = &backend->values[i];
        const bool is_generator = backend->strategies[i] != NULL;
        if (is_generator || read_option(backend->options[i]->name, v, q) || !v->is_given) continue;
        diag_error(d, v->at, &E1615, "option `%s` of %s `%s` has no effect on `%s`: leave it out",
                   backend->options[i]->name, backend->role, backend->id, q->path);
        result = FAILED;
    }
    return result;
}
