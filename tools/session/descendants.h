/* Processes that plugins leave running: the supervisor adopts them and ends them with the worker. */
#ifndef TOOLS_SESSION_DESCENDANTS_H
#define TOOLS_SESSION_DESCENDANTS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on this process is the parent of every descendant whose own parent ends. False when that cannot be, or when
 * it has children already (of a shell that it took the place of), whose descendants could not be told from ours. */
bool descendants_adopt(void);
/* Kills the children of this process, and theirs as they become ours, and returns how many had to be killed. */
uint32_t descendants_end(void);
/* For the worker, which is about to end: waits a moment for children that are about to end too. */
void descendants_await(void);

#endif
