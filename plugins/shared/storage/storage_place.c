/* First fit, largest first, over lives in print order. */
#include "storage_place.h"

#include <stdlib.h>
#include <string.h>

enum { LIVES_UNASKED = 256 }; /* before the host is asked again whether to go on */

static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t r = 0;
    return __builtin_add_overflow(a, b, &r) ? INT64_MAX : r;
}

uint32_t storage_pipe(const pto_run *run, pto_kind_id kind)
{
    const uint32_t transfer = (uint32_t)pto_kind_column(run, kind, PTO_COLUMN_TRANSFER);
    if (transfer != PTO_TRANSFER_NONE) return storage_transfer_pipe(transfer);
    return UINT32_C(16) << ((uint32_t)pto_kind_column(run, kind, PTO_COLUMN_UNIT) % 16u);
}

int storage_may_share(const storage_life *a, const storage_life *b, storage_sharing sharing)
{
    const uint32_t pipes = a->pipes | b->pipes;
    if (sharing == STORAGE_APART || (a->first <= b->last && b->first <= a->last)) return 0;
    if (sharing == STORAGE_ALL || (pipes & (pipes - 1)) == 0) return 1;
    return a->loop_last < b->loop_first || b->loop_last < a->loop_first;
}

static int larger_first(const void *a, const void *b)
{
    const storage_life *x = *(storage_life *const *)a, *y = *(storage_life *const *)b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int64_t place_apart(storage_life **lives, uint32_t count)
{
    int64_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        lives[i]->addr = pto_round_up(end, lives[i]->align);
        end = sum_of(lives[i]->addr, lives[i]->bytes);
    }
    return end;
}

/* The lowest address at which `l` takes nothing from the placed lives, which are ordered by address. */
static int64_t lowest_fit(const storage_life *l, storage_life *const *placed, uint32_t count, storage_sharing sharing)
{
    int64_t addr = 0;
    for (uint32_t i = 0; i < count; i++) {
        const storage_life *p = placed[i];
        const int64_t end = sum_of(p->addr, p->bytes);
        if (end <= addr || storage_may_share(l, p, sharing)) continue;
        if (sum_of(addr, l->bytes) <= p->addr) break;
        addr = pto_round_up(end, l->align);
    }
    return addr;
}

int64_t storage_place(const pto_run *run, storage_life **lives, uint32_t count, storage_sharing sharing)
{
    int64_t end = 0;
    if (sharing == STORAGE_APART) return place_apart(lives, count);
    qsort(lives, count, sizeof(storage_life *), larger_first);
    for (uint32_t i = 0; i < count; i++) {
        storage_life *l = lives[i];
        uint32_t at = i;
        if (i % LIVES_UNASKED == 0 && pto_should_stop(run)) return INT64_MAX;
        l->addr = lowest_fit(l, lives, i, sharing);
        for (; at > 0 && lives[at - 1]->addr > l->addr; at--) lives[at] = lives[at - 1];
        lives[at] = l;
        if (sum_of(l->addr, l->bytes) > end) end = sum_of(l->addr, l->bytes);
    }
    return end;
}

static int by_first(const void *a, const void *b)
{
    const storage_life *x = *(storage_life *const *)a, *y = *(storage_life *const *)b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_last(const void *a, const void *b)
{
    const storage_life *x = *(storage_life *const *)a, *y = *(storage_life *const *)b;
    if (x->last != y->last) return x->last < y->last ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The most bytes that live at one place. */
static int64_t most_at_once(storage_life **lives, storage_life **spare, uint32_t count)
{
    int64_t sum = 0, most = 0;
    memcpy(spare, lives, count * sizeof *lives);
    qsort(lives, count, sizeof(storage_life *), by_first);
    qsort(spare, count, sizeof(storage_life *), by_last);
    for (uint32_t i = 0, ended = 0; i < count; i++) {
        for (; spare[ended]->last < lives[i]->first; ended++) sum -= spare[ended]->bytes;
        if (__builtin_add_overflow(sum, lives[i]->bytes, &sum)) return INT64_MAX;
        if (sum > most) most = sum;
    }
    return most;
}

int64_t storage_needed(const pto_run *run, storage_life **lives, storage_life **spare, uint32_t count, int64_t capacity)
{
    int64_t needed = storage_place(run, lives, count, STORAGE_APART);
    if (needed <= capacity) return needed;
    needed = most_at_once(lives, spare, count);
    return needed > capacity ? needed : storage_place(run, lives, count, STORAGE_FREELY);
}
