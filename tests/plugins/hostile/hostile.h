/* A hostile plugin in a few lines: one pass that does to its host what no plugin should, in the way that it is told.
 *
 *     #include "hostile.h"
 *     HOSTILE_WAY(raise_pipe) { return raise(SIGPIPE) ? PTO_FAILED : PTO_OK; }
 *     HOSTILE_WAY(end) { _exit(0); }
 *     #define WAYS(X) X(raise_pipe) X(end)
 *     HOSTILE("test.hostile-ends", WAYS);
 *
 * `--passes='test.hostile-ends{way=end}'` chooses. A way sees `run` and `unit`, a function at tensor level; HOSTILE_AT
 * says scope and levels too. What happens while a file is loaded stands in a constructor beside HOSTILE_NOTHING, a pass
 * without options that changes nothing. _GNU_SOURCE is defined. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <pto/plugin.h>

#define HOSTILE_WAY(name_) \
    static pto_status way_##name_(__attribute__((unused)) const pto_run *run, __attribute__((unused)) pto_op unit)

#define HOSTILE_WAY_NAME(name_) #name_,
#define HOSTILE_WAY_FUNCTION(name_) way_##name_,
#define HOSTILE_PASS(id_, scope_, consumes_, produces_, options_, run_)                      \
    static const pto_pass hostile_pass = {.struct_size = sizeof hostile_pass,                \
                                          .id = (id_),                                       \
                                          .summary = "Do to the host what no plugin should", \
                                          .scope = (scope_),                                 \
                                          .consumes = (consumes_),                           \
                                          .produces = (produces_),                           \
                                          .options = (options_),                             \
                                          .run = (run_)};                                    \
    PTO_PLUGIN(id_, "pass:" id_, "", .version = "1.0.0", .license = "Apache-2.0",            \
               .passes = PTO_LIST(pto_pass, &hostile_pass))

#define HOSTILE(id_, ways_) HOSTILE_AT(id_, ways_, "function", "tensor/1", "tensor/1")
#define HOSTILE_AT(id_, ways_, scope_, consumes_, produces_)                                        \
    static const char *const way_names[] = {ways_(HOSTILE_WAY_NAME) NULL};                          \
    static const pto_option way_option = {.struct_size = sizeof way_option,                         \
                                          .name = "way",                                            \
                                          .doc = "what to do to the host",                          \
                                          .type = PTO_OPT_ENUM,                                     \
                                          .choices = way_names};                                    \
    static pto_status run_way(const pto_run *run, pto_op unit)                                      \
    {                                                                                               \
        static pto_status (*const ways[])(const pto_run *, pto_op) = {ways_(HOSTILE_WAY_FUNCTION)}; \
        return ways[pto_opt_i64(run, 0)](run, unit);                                                \
    }                                                                                               \
    HOSTILE_PASS(id_, scope_, consumes_, produces_, PTO_LIST(pto_option, &way_option), run_way)

#define HOSTILE_NOTHING(id_)                \
    HOSTILE_WAY(nothing) { return PTO_OK; } \
    HOSTILE_PASS(id_, "function", "tensor/1", "tensor/1", NULL, way_nothing)

#endif
