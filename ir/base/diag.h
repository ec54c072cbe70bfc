/* Diagnostics: everything a user is told about wrong input goes through here.
 *
 * Printed form, one per line, the source line and a caret below where the source is known:
 *     softmax.ptir:3:8: error: [E0203] `tensor.sub` needs ...
 *     softmax.ptir:3:8: error: [pto.tile/unsupported-op] `tensor.sort` has no tile form [@softmax/y]
 *     note: ...
 * The path of the op in question is at the end once a module is more than the text at the place (op_name_diag).
 * Codes are rows of ir/base/diag.def, core/diag.def and tools/base/diag.def, or a plugin's own "vendor.pass/what" text.
 */
#ifndef IR_BASE_DIAG_H
#define IR_BASE_DIAG_H

#include "ir/base/arena.h"
#include "ir/base/status.h"
#include "ir/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum diag_severity {
#define SEVERITY(ID, word) DIAG_##ID,
#include "ir/ops/kinds.def"
} diag_severity;

/* "error", as printed. Static. */
const char *diag_severity_name(diag_severity s);

/* One object for each row of the tables, in two tables so that ir/ need not know core/'s. */
typedef struct diag_code_info {
    const char *code;    /* "E0312" */
    const char *summary; /* one sentence, lower case */
} diag_code_info;

#define DIAG(code, summary) extern const diag_code_info code;
#include "ir/base/diag.def"
#undef DIAG

/* The row number `index` of ir/base/diag.def, or NULL past the last; core/core_diag.h and tools/base/tool_diag.h
 * have the same for their tables. */
const diag_code_info *diag_code_at(uint32_t index);

/* A place in a text. line and column count from 1; line 0 means "the file as a whole"; file NULL means "no
 * place". Columns count bytes. */
typedef struct src_pos {
    const char *file;
    uint32_t line, column;
} src_pos;

#define NO_POS ((src_pos){0})

typedef struct diag_engine diag_engine;

typedef struct diag_record {
    diag_severity severity;
    src_pos at;
    const char *code; /* may be NULL (notes) */
    const char *text;
    const char *path; /* of the op it is about, "@f/x"; NULL: none, or in a note that of what it belongs to */
} diag_record;

/* Output goes to `out` (usually stderr); NULL collects only. At most `max_errors` errors are printed, and as many
 * warnings, remarks and notes with a code; diag_destroy prints one line that counts the rest; 0 means 20. */
diag_engine *diag_create(FILE *out, int max_errors);
void diag_destroy(diag_engine *d);

/* Makes the text of a file known, so that carets can be shown. The text must outlive the engine or be withdrawn by
 * passing NULL for it; then the file is read again from disk when a caret is needed. */
void diag_add_source(diag_engine *d, const char *file, str text);

/* Reports. The message is one sentence in lower case without full stop, with the offending values and limits.
 * Bytes above 4096 are cut; what could confuse a terminal is printed as an escape, and lines after the first are
 * indented. */
void diag_error(diag_engine *d, src_pos at, const diag_code_info *code, const char *format, ...) PRINTF_LIKE(4, 5);
void diag_warning(diag_engine *d, src_pos at, const diag_code_info *code, const char *format, ...) PRINTF_LIKE(4, 5);
/* Belongs to the diagnostic reported before it. */
void diag_note(diag_engine *d, src_pos at, const char *format, ...) PRINTF_LIKE(3, 4);
/* For plugins: the code is free text, the message is complete. A note with a code belongs to nothing before it. */
void diag_report(diag_engine *d, diag_severity severity, src_pos at, const char *code, str message);

/* The next report is about the op at this path. */
void diag_set_path(diag_engine *d, str path);
/* Whether the path of a report of this severity would be seen: making one takes time. */
bool diag_wants_path(const diag_engine *d, diag_severity severity);
/* On at first; off while a module is read, where the place says all. */
void diag_show_paths(diag_engine *d, bool on);

/* Errors reported so far, those beyond the limit of printed ones included. */
uint32_t diag_error_count(const diag_engine *d);
/* The records so far, oldest first; for tests and for the pass manager's "failed without a diagnostic" check. At
 * least the printed ones are kept, at most 1000; diag_error_count counts all. Texts live as long as the engine. */
uint32_t diag_record_count(const diag_engine *d);
const diag_record *diag_record_at(const diag_engine *d, uint32_t index);
/* Writes a record as it is printed, with the newline and without the source line. */
void diag_write(const diag_record *r, text_buffer *out);
/* Forgets all records, counts and known texts: an engine of a program that goes on after errors. What was handed out of
 * them is gone. */
void diag_forget(diag_engine *d);
void diag_set_color(diag_engine *d, bool on);
/* While on, errors and their notes are neither printed, recorded nor counted: what is tried may fail. */
void diag_hush(diag_engine *d, bool on);
/* The text of the first error since it was last switched on; NULL: there was none. Lives as long as the engine. */
const char *diag_hushed(const diag_engine *d);
/* Remarks are recorded always and printed only when this is on; it is off at first. */
void diag_show_remarks(diag_engine *d, bool on);
/* Warnings with their notes are printed unless this is off; it is on at first. */
void diag_show_warnings(diag_engine *d, bool on);
/* Says that remarks will be read from the records, so that these need paths; off at first. */
void diag_keep_remarks(diag_engine *d, bool on);

#endif
