/* What options of a backend and its machine mean for a library. */
#ifndef TOOLS_BUILD_BUILD_SETTINGS_H
#define TOOLS_BUILD_BUILD_SETTINGS_H

#include "core/compile/pipeline_load.h"
#include "tools/build/build_link.h"

/* Fills in the compiler and its limit of time, the width of vectors and the instructions. Options that have no effect
 * on a library of this kind fail where they are given, after a diagnostic. The pipeline has a backend. */
MUST_CHECK status build_settings_read(diag_engine *d, const loaded_pipeline *p, build_request *q);

#endif
