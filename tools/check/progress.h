/* --progress: one line on stderr as each step starts. */
#ifndef TOOLS_CHECK_PROGRESS_H
#define TOOLS_CHECK_PROGRESS_H

#include "core/compile/observer.h"

/* Needs no memory and may be used for any number of compiles. */
compile_observer progress_observer(void);

#endif
