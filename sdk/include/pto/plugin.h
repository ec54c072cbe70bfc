/* What a plugin includes. One .so exports one function and carries one ELF note; PTO_PLUGIN writes both.
 *
 *     #define KINDS(X) X(NEG, "tensor.neg")
 *     PTO_KINDS(KINDS);
 *     #define OPTIONS(X) X(LIMIT, I64, "limit", .def = "64", .min = "0", .doc = "...", .example = "with: { limit: 3 }")
 *     PTO_OPTIONS(OPTIONS);
 *     #define STATS(X) X(FOLDED, "folded")
 *     PTO_STATS(STATS);
 *     static pto_status run(const pto_run *run, pto_op unit)
 *     {
 *         ... pto_kind(run, KIND_NEG) ... pto_opt_i64(run, OPT_LIMIT) ... pto_stat_add(run, STAT_FOLDED, 1) ...
 *     }
 *     static const pto_pass pass = {.struct_size = sizeof pass,
 *                                   .id = "acme.x",
 *                                   ...
 *                                   .kinds = pass_kinds,
 *                                   .options = pass_options,
 *                                   .stats = pass_stats,
 *                                   .run = run};
 *     PTO_PLUGIN("acme.x", "pass:acme.x", "", .version = "1.0.0", .license = "MIT",
 *                .passes = PTO_LIST(pto_pass, &pass));
 *
 * Every declaration macro ends in an unfinished declaration and expects a `;`. In C++ write arrays in place of PTO_LIST
 * and PTO_STRS, and members in order in place of designators; link without the C++ library, which exports symbols of
 * its own (templates of std::, exceptions). Plugins keep no writable static data. */
#ifndef PTO_PLUGIN_H
#define PTO_PLUGIN_H

#include <pto/abi.h>
#include <pto/arithmetic.h>
#include <pto/backend.h>
#include <pto/bind.h>
#include <pto/build.h>
#include <pto/call.h>
#include <pto/decision.h>
#include <pto/extent.h>
#include <pto/generator.h>
#include <pto/insn.h>
#include <pto/names.h>
#include <pto/note.h>
#include <pto/operands.h>
#include <pto/opset.h>
#include <pto/reader.h>
#include <pto/tiling.h>

/* NULL-ended arrays at file scope (C). */
#define PTO_LIST(type, ...) \
    (const type *const[]) { __VA_ARGS__, NULL }
#define PTO_STRS(...) \
    (const char *const[]) { __VA_ARGS__, NULL }

/* Rows X(NAME, "dialect.op"): enum KIND_NAME and the table pass_kinds. A second list in one file takes another table
 * name. */
#define PTO_KIND_ENUM(NAME, text) KIND_##NAME,
#define PTO_KIND_TEXT(NAME, text) text,
#define PTO_KINDS_AS(table, ROWS)               \
    enum { ROWS(PTO_KIND_ENUM) table##_count }; \
    static const char *const table[] = {ROWS(PTO_KIND_TEXT) NULL}
#define PTO_KINDS(ROWS) PTO_KINDS_AS(pass_kinds, ROWS)

/* Rows X(NAME, "text"): enum STAT_NAME and the table pass_stats. */
#define PTO_STAT_ENUM(NAME, text) STAT_##NAME,
#define PTO_STAT_TEXT(NAME, text) text,
#define PTO_STATS_AS(table, ROWS)               \
    enum { ROWS(PTO_STAT_ENUM) table##_count }; \
    static const char *const table[] = {ROWS(PTO_STAT_TEXT) NULL}
#define PTO_STATS(ROWS) PTO_STATS_AS(pass_stats, ROWS)

/* Rows X(NAME, TYPE, "text", members of pto_option after `name`): enum OPT_NAME and the table pass_options. TYPE: BOOL
 * I64 F64 STR ENUM BYTES LIST PLUGIN. */
#define PTO_OPTION_ENUM(NAME, TYPE, text, ...) OPT_##NAME,
#define PTO_OPTION_ROW(NAME, TYPE, text, ...) \
    static const pto_option pto_option_##NAME = {sizeof(pto_option), PTO_OPT_##TYPE, text, __VA_ARGS__};
#define PTO_OPTION_ADDRESS(NAME, TYPE, text, ...) &pto_option_##NAME,
#define PTO_OPTIONS_AS(table, ROWS)               \
    enum { ROWS(PTO_OPTION_ENUM) table##_count }; \
    ROWS(PTO_OPTION_ROW)                          \
    static const pto_option *const table[] = {ROWS(PTO_OPTION_ADDRESS) NULL}
#define PTO_OPTIONS(ROWS) PTO_OPTIONS_AS(pass_options, ROWS)

/* Forks change it. */
#ifndef PTO_VENDOR
#define PTO_VENDOR "pto"
#endif

#ifdef __cplusplus
#define PTO_EXTERN_C extern "C"
#else
#define PTO_EXTERN_C
#endif

/* The plugin: id; everything it provides as "kind:id" separated by single spaces ("pass:acme.a tiling:acme.t", kinds
 * pass, property, tiling, cost, generator, reader, backend, op); the properties its passes establish, separated
 * likewise; then the members of pto_plugin after `id`. The first three must be literals, since the note is made of
 * them; the host compares them with the descriptor.
 * A plugin of one pass and nothing else may name the ops that the pass is for as "rewrites:tensor.softmax", one by one:
 * a promise that it changes nothing in a function without them. A step that sets no option then has the plugin loaded
 * when a module has one of the ops, and not before. Such a pass is of scope "function", stays at the level of the ops,
 * requires, establishes and breaks no property, chooses nothing, and has the ops among its `kinds`. */
#define PTO_PLUGIN(plugin_id, provides, establishes, ...)                                                  \
    PTO_NOTE_EMIT(PTO_VENDOR, plugin_id, provides, establishes);                                           \
    static const pto_plugin pto_plugin_self = {sizeof(pto_plugin), PTO_ABI_MINOR, plugin_id, __VA_ARGS__}; \
    PTO_EXTERN_C __attribute__((visibility("default"))) const pto_plugin *pto_plugin_entry_v1(void);       \
    const pto_plugin *pto_plugin_entry_v1(void) { return &pto_plugin_self; }                               \
    typedef int pto_plugin_expects_semicolon

#endif
