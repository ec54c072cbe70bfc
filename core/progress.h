/* --progress: one line on stderr as each step starts. */
#ifndef CORE_PROGRESS_H
#define CORE_PROGRESS_H

#include "core/observer.h"

compile_observer progress_observer(void);

#endif
