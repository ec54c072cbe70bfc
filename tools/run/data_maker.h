/* Runs the data program of a case: PROGRAM DIR ARGUMENT.. with the system's Python. */
#ifndef TOOLS_RUN_DATA_MAKER_H
#define TOOLS_RUN_DATA_MAKER_H

#include "tools/run/run_case.h"

/* `modules`: a folder of Python modules that the program can import, such as case_data; NULL: none. `python` NULL:
 * /usr/bin/python3 when there is one (where Debian's numpy lives), else python3 of the PATH. The folder is made when it
 * is missing. Fails when the program does not end with status 0. */
MUST_CHECK status data_maker_run(arena *a, diag_engine *d, const case_description *c, const case_size *size,
                                 const char *python, const char *modules, const char *folder);

#endif
