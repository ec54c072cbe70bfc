/* Which sizes of tiles were tried in vain.
 *
 * Strategies are asked before kernels exist, so a later step may find that one does not fit. Then the steps run once
 * more from the tiling on, and that nest gets the next size that its strategy offers and that fits by count; each time
 * is a remark. When the strategy has no other, or after TILING_RETRIES_MAX times, the error of the later step is
 * reported. Sizes that the schedule pins are never replaced. The steps are deterministic, so the choices of each time
 * come in one order and are known by their number. [one thread] */
#ifndef CORE_HOST_TILING_RETRY_H
#define CORE_HOST_TILING_RETRY_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum { TILING_RETRIES_MAX = 8 };

typedef struct tiling_retry tiling_retry;

/* Without choices and pins; lives in `a`. */
tiling_retry *tiling_retry_create(arena *a);
/* The next choice, for a nest of that label in that function: how many offers that fit it passes over. */
uint32_t tiling_retry_next(tiling_retry *r, str function, str label);
/* The schedule pins, at that place of its file, the size for such a nest. */
void tiling_retry_add_pin(tiling_retry *r, str function, str label, src_pos at);
/* Where it pins a size of what became that function or kernel; false when it does not. */
bool tiling_retry_find_pin(const tiling_retry *r, str unit, src_pos *at);
/* The strategy has no offer after those that the latest choice passed over: the first one is kept from now on. */
void tiling_retry_give_up(tiling_retry *r);
/* A later step found no space in the function or kernel of that name: nests that became it shall get other sizes.
 * False: there are none to be had. */
bool tiling_retry_ask(tiling_retry *r, str unit);
/* Something asked, or stopped, since the steps began. */
bool tiling_retry_is_wanted(const tiling_retry *r);
/* Before the steps run once more: choices are counted anew, and pins are forgotten. */
void tiling_retry_restart(tiling_retry *r);

#endif
