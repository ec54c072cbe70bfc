/* Folders that pto fills: --dump-dir and --report.
 *
 * A file `.pto-files` in the folder lists what pto wrote there, with a digest of each file. The next run that fills the
 * folder begins by removing exactly those files, so that what is in it is of one run. A file that was changed
 * since, or that pto did not write, is left alone; a run that needs its name fails. Two runs cannot fill one folder at
 * once. The list is ahead of the files: a process that dies leaves no file that is not listed. */
#ifndef TOOLS_RUN_OUTPUT_FOLDER_H
#define TOOLS_RUN_OUTPUT_FOLDER_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/status.h"
#include "ir/base/text.h"

#include <stdint.h>

typedef struct output_folder output_folder;

/* Makes the folder when it is missing (its parent must exist) and removes the files of an earlier run. Memory comes
 * from `a`; output_folder_close ends it in any case. `*out` is NULL when this fails. */
MUST_CHECK status output_folder_open(arena *a, diag_engine *d, const char *path, output_folder **out);
/* An unfinished file is given up. NULL is allowed. */
void output_folder_close(output_folder *f);
const char *output_folder_path(const output_folder *f);

/* Whether it is a plain name: of up to 255 bytes, without `/` and control characters. */
bool output_folder_takes_name(str name);
/* One file at a time, by its plain name; it appears under it when it ends. A name comes once in a run. Bytes are
 * counted for nothing when the file did not begin. */
MUST_CHECK status output_folder_begin(output_folder *f, str name);
void output_folder_put(output_folder *f, const void *bytes, size_t n);
MUST_CHECK status output_folder_end(output_folder *f);
/* A whole file. */
MUST_CHECK status output_folder_write(output_folder *f, str name, str bytes);

/* How many files this run wrote; the later ones are removed again by output_folder_rewind. */
uint32_t output_folder_count(const output_folder *f);
void output_folder_rewind(output_folder *f, uint32_t count);

#endif
