/* What passes chose, and which alternatives were tried in vain.
 *
 * A pass that has several ways for an op takes the best one before it is known whether what comes of it fits. A later
 * step may find that it does not. Then the steps run once more from the first one that chooses, and the op that became
 * that kernel gets its next alternative; each time is a remark. Of several steps that chose for it the first one tries
 * all of its alternatives, then keeps its best one, and the next step tries its own; when all have, the error of the
 * later step is reported. What the schedule pins is never replaced.
 *
 * A choice is known by the step that makes it, the function, the label of the op and its number among those with the
 * same label: alternatives of one step may change how many choices a later one has. [one thread] */
#ifndef CORE_HOST_CHOICES_H
#define CORE_HOST_CHOICES_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CHOICE_TRIES_MAX = 8,   /* further alternatives of one choice */
    CHOICE_ROUNDS_MAX = 64, /* of the steps, in all */
    CHOICE_ANY = INT32_MAX  /* a number of alternatives that the step finds out by asking for one too many */
};

typedef struct choices choices;

/* Without choices and pins; lives in `a`. */
choices *choices_create(arena *a);
/* The next choice of a step, with `count` alternatives, for an op of that label in that function: how many of them it
 * passes over. `step` is compared alone; texts must live as long as the choices. */
uint32_t choices_next(choices *c, const void *step, str function, str label, uint32_t count);
/* The schedule pins, at that place of its file, what would be chosen for such an op. */
void choices_add_pin(choices *c, str function, str label, src_pos at);
/* Where it pins a choice for what became that function or kernel; false when it does not. */
bool choices_find_pin(const choices *c, str unit, src_pos *at);
/* The latest choice has no alternative after those it passed over: the first one is kept from now on, and the steps
 * run again. */
void choices_give_up(choices *c);
/* What became the function or kernel of that name does not fit: it shall get other alternatives. False: there are none
 * to be had. */
bool choices_ask(choices *c, str unit);
/* Something asked, or gave up, since the steps began. */
bool choices_is_wanted(const choices *c);
/* Before the steps run once more: choices are counted anew, and pins are forgotten. */
void choices_restart(choices *c);

#endif
