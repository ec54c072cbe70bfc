#include "cpu-sim/happens_before.h"

#include <pto/arithmetic.h>
#include <pto/call.h>

void history_init(const pto_run *run, access_history *h) { *h = (access_history){.run = run}; }

void history_clear(access_history *h)
{
    for (uint32_t i = 0; i < PTO_NAMES_MAX; i++) h->spaces[i].count = 0;
    h->window_count = 0;
    h->blank.site = NULL;
    h->overlap.reader = NULL;
}

/* ---- on chip ---- */

/* Makes space for one segment at place `at`. */
static segment *insert(access_history *h, segment_list *l, uint32_t at)
{
    PTO_GROW(h->run, l->items, l->count, l->capacity);
    memmove(&l->items[at + 1], &l->items[at], (l->count - at) * sizeof *l->items);
    l->count++;
    return &l->items[at];
}

/* The first segment that ends after `address`. */
static uint32_t find(const segment_list *l, int64_t address)
{
    uint32_t lo = 0, hi = l->count;
    while (lo < hi) {
        const uint32_t mid = (lo + hi) / 2;
        if (l->items[mid].hi <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Cuts the segment that contains `address`, if any, in two. */
static void cut(access_history *h, segment_list *l, int64_t address)
{
    const uint32_t at = find(l, address);
    if (at == l->count || l->items[at].lo >= address) return;
    insert(h, l, at + 1);
    l->items[at + 1] = l->items[at];
    l->items[at].hi = address;
    l->items[at + 1].lo = address;
}

static bool is_unordered(const access_by *by, uint32_t pipe, uint32_t entry)
{
    if (pipe != by->pipe) return entry > by->clock->at[pipe];
    return entry > by->over && entry < by->entry;
}

static bool find_race(const segment *s, const byte_access *a, const access_by *by, race *out)
{
    *out = (race){.second = by->site, .second_pipe = by->pipe, .second_writes = a->is_write, .space = a->space};
    out->lo = a->lo > s->lo ? a->lo : s->lo;
    out->hi = a->hi < s->hi ? a->hi : s->hi;
    if (s->writer_pipe != NO_PIPE && is_unordered(by, s->writer_pipe, s->writer_entry)) {
        out->first = s->writer;
        out->first_pipe = s->writer_pipe;
        out->first_writes = true;
        return true;
    }
    for (uint32_t p = 1; a->is_write && p < CLOCK_PIPES; p++) {
        if (!is_unordered(by, p, s->read_entry[p])) continue;
        out->first = s->reader[p];
        out->first_pipe = p;
        return true;
    }
    return false;
}

static bool find_races(const segment_list *l, const byte_access *a, const access_by *by, race *out)
{
    for (uint32_t i = find(l, a->lo); i < l->count && l->items[i].lo < a->hi; i++)
        if (find_race(&l->items[i], a, by, out)) return true;
    return false;
}

static void enter_write(access_history *h, segment_list *l, const byte_access *a, const access_by *by)
{
    cut(h, l, a->lo);
    cut(h, l, a->hi);
    const uint32_t from = find(l, a->lo);
    uint32_t to = from;
    while (to < l->count && l->items[to].lo < a->hi) to++;
    if (to == from) {
        insert(h, l, from);
        to = from + 1;
    }
    l->items[from] = (segment){.lo = a->lo,
                               .hi = a->hi,
                               .writer_pipe = by->pipe,
                               .writer_entry = by->entry,
                               .writer = by->site,
                               .written_buffer = a->buffer};
    memmove(&l->items[from + 1], &l->items[to], (l->count - to) * sizeof *l->items);
    l->count -= to - from - 1;
}

static void note_blank(access_history *h, const byte_access *a, const access_by *by, int64_t lo, int64_t hi)
{
    if (h->blank.site == NULL) h->blank = (blank_read){by->site, a->space, lo, hi};
}

static void note_overlap(access_history *h, const byte_access *a, const access_by *by, const segment *s)
{
    if (h->overlap.reader == NULL)
        h->overlap = (overlap_read){by->site, s->writer, a->buffer, s->written_buffer, a->space, s->lo, s->hi};
}

static void enter_read(access_history *h, segment_list *l, const byte_access *a, const access_by *by)
{
    cut(h, l, a->lo);
    cut(h, l, a->hi);
    int64_t at = a->lo;
    for (uint32_t i = find(l, a->lo); at < a->hi; i++) {
        if (i == l->count || l->items[i].lo > at) {
            const int64_t next = i == l->count || l->items[i].lo > a->hi ? a->hi : l->items[i].lo;
            *insert(h, l, i) = (segment){.lo = at, .hi = next};
        }
        segment *s = &l->items[i];
        if (s->writer_pipe == NO_PIPE)
            note_blank(h, a, by, s->lo, s->hi);
        else if (s->written_buffer != a->buffer)
            note_overlap(h, a, by, s);
        s->read_entry[by->pipe] = by->entry;
        s->reader[by->pipe] = by->site;
        at = s->hi;
    }
}

bool history_has_race(const access_history *h, const byte_access *a, const access_by *by, race *out)
{
    return a->lo < a->hi && find_races(&h->spaces[a->space], a, by, out);
}

bool history_touch(access_history *h, const byte_access *a, const access_by *by, race *out)
{
    segment_list *l = &h->spaces[a->space];
    if (a->lo >= a->hi) return true;
    if (find_races(l, a, by, out)) return false;
    if (a->is_write)
        enter_write(h, l, a, by);
    else
        enter_read(h, l, a, by);
    return true;
}

/* ---- global memory ---- */

static int64_t end_of(const window_access *w) { return w->first + (w->rows - 1) * w->pitch + w->row_bytes; }

bool windows_overlap(const window_access *a, const window_access *b, int64_t *out_lo, int64_t *out_hi)
{
    if (a->rows < 1 || b->rows < 1 || a->row_bytes < 1 || b->row_bytes < 1) return false;
    if (a->first >= end_of(b) || b->first >= end_of(a)) return false;
    if (a->rows > b->rows) {
        const window_access *t = a;
        a = b;
        b = t;
    }
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t lo = a->first + i * a->pitch - b->first, hi = lo + a->row_bytes;
        int64_t k = b->rows > 1 && b->pitch > 0 ? pto_floor_div(lo - b->row_bytes, b->pitch) + 1 : 0;
        if (k < 0) k = 0;
        if (k >= b->rows || k * b->pitch >= hi || k * b->pitch + b->row_bytes <= lo) continue;
        const int64_t other = k * b->pitch;
        *out_lo = b->first + (lo > other ? lo : other);
        *out_hi = b->first + (hi < other + b->row_bytes ? hi : other + b->row_bytes);
        return true;
    }
    return false;
}

/* Drops what every pipe is ordered after. */
static void forget(access_history *h, const vector_clock *const clocks[CLOCK_PIPES])
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < h->window_count; i++) {
        const window_record *r = &h->windows[i];
        bool is_known = true;
        for (uint32_t p = 1; p < CLOCK_PIPES; p++)
            is_known &= p == r->pipe ? !h->overlaps[p] : clocks[p] == NULL || clocks[p]->at[r->pipe] >= r->entry;
        if (!is_known) h->windows[kept++] = *r;
    }
    h->window_count = kept;
}

static void enter_window(access_history *h, const window_access *a, const access_by *by)
{
    PTO_GROW(h->run, h->windows, h->window_count, h->window_capacity);
    h->windows[h->window_count++] = (window_record){*a, by->pipe, by->entry, by->site};
}

bool history_touch_window(access_history *h, const window_access *a, const access_by *by,
                          const vector_clock *const clocks[CLOCK_PIPES], race *out)
{
    for (uint32_t i = 0; i < h->window_count; i++) {
        const window_record *r = &h->windows[i];
        if (r->window.root != a->root || (!r->window.is_write && !a->is_write)) continue;
        if (!is_unordered(by, r->pipe, r->entry)) continue;
        if (!windows_overlap(&r->window, a, &out->lo, &out->hi)) continue;
        const int64_t lo = out->lo, hi = out->hi;
        *out = (race){.first = r->site,
                      .second = by->site,
                      .first_pipe = r->pipe,
                      .second_pipe = by->pipe,
                      .first_writes = r->window.is_write,
                      .second_writes = a->is_write,
                      .space = PTO_SPACE_NONE,
                      .lo = lo,
                      .hi = hi,
                      .root = a->root};
        return false;
    }
    if (h->window_count == h->window_capacity && h->window_capacity) forget(h, clocks);
    enter_window(h, a, by);
    return true;
}
