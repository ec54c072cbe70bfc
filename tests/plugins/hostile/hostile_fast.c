/* Does nothing, and is linked with -ffast-math: some compilers then add start files that make the process flush
 * denormals. */
#include "hostile.h"

HOSTILE_NOTHING("test.hostile-fast");
