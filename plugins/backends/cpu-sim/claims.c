#include "cpu-sim/claims.h"

#include <pto/call.h>

enum { PAGE_BITS = 12, HEADS_FIRST = 1 << 10 };

void claims_init(const pto_run *run, claim_table *t) { *t = (claim_table){.run = run}; }

void claims_clear(claim_table *t)
{
    t->claim_count = t->page_count = 0;
    t->left_out = 0;
    if (t->head_count) memset(t->heads, 0, t->head_count * sizeof *t->heads);
}

static uint32_t hash(const claim_table *t, uint32_t root, int64_t page)
{
    const uint64_t mixed = ((uint64_t)page + ((uint64_t)root << 44)) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mixed >> 40) & (t->head_count - 1);
}

static void link_page(claim_table *t, uint32_t at)
{
    claim_page *p = &t->pages[at];
    uint32_t *head = &t->heads[hash(t, p->root, p->page)];
    p->next = *head;
    *head = at + 1;
}

static void grow_pages(claim_table *t)
{
    const uint32_t capacity = t->page_capacity ? t->page_capacity * 2 : HEADS_FIRST;
    claim_page *pages = PTO_SCRATCH(t->run, claim_page, capacity);
    if (t->page_count) memcpy(pages, t->pages, t->page_count * sizeof *pages);
    t->pages = pages;
    t->page_capacity = t->head_count = capacity;
    t->heads = PTO_SCRATCH(t->run, uint32_t, capacity);
    for (uint32_t i = 0; i < t->page_count; i++) link_page(t, i);
}

static uint32_t add_claim(claim_table *t, const claim *c)
{
    PTO_GROW(t->run, t->claims, t->claim_count, t->claim_capacity);
    t->claims[t->claim_count] = *c;
    t->claims[t->claim_count].compared = UINT32_MAX;
    return t->claim_count++;
}

static bool conflicts(const claim *a, const claim *b, race *out)
{
    if (a->instance == b->instance || (!a->window.is_write && !b->window.is_write)) return false;
    if (!windows_overlap(&a->window, &b->window, &out->lo, &out->hi)) return false;
    const int64_t lo = out->lo, hi = out->hi;
    *out = (race){.first = a->site,
                  .second = b->site,
                  .first_pipe = a->pipe,
                  .second_pipe = b->pipe,
                  .first_writes = a->window.is_write,
                  .second_writes = b->window.is_write,
                  .space = PTO_SPACE_NONE,
                  .lo = lo,
                  .hi = hi,
                  .root = a->window.root};
    return true;
}

/* Compares claim `at` with those of a page, then enters it there. */
static const claim *visit_page(claim_table *t, uint32_t at, int64_t page, race *out)
{
    const claim *c = &t->claims[at];
    if (t->page_count == t->page_capacity) grow_pages(t);
    for (uint32_t i = t->heads[hash(t, c->window.root, page)]; i != 0; i = t->pages[i - 1].next) {
        const claim_page *p = &t->pages[i - 1];
        if (p->page != page || p->root != c->window.root) continue;
        claim *other = &t->claims[p->claim];
        if (other->compared == at) continue;
        other->compared = at;
        if (conflicts(other, c, out)) return other;
    }
    t->pages[t->page_count] = (claim_page){page, c->window.root, at, 0};
    link_page(t, t->page_count++);
    return NULL;
}

/* Whether the instance has claimed this very window before. */
static bool is_repeated(const claim_table *t, const claim *c)
{
    const window_access *w = &c->window;
    const int64_t page = w->first >> PAGE_BITS;
    if (t->head_count == 0) return false;
    for (uint32_t i = t->heads[hash(t, w->root, page)]; i != 0; i = t->pages[i - 1].next) {
        const claim *k = &t->claims[t->pages[i - 1].claim];
        const window_access *v = &k->window;
        if (k->instance == c->instance && v->root == w->root && v->is_write == w->is_write && v->first == w->first &&
            v->rows == w->rows && v->row_bytes == w->row_bytes && v->pitch == w->pitch)
            return true;
    }
    return false;
}

bool claims_add(claim_table *t, const claim *c, race *out, int64_t *out_other_instance)
{
    const window_access *w = &c->window;
    const int64_t span = w->rows * ((w->row_bytes >> PAGE_BITS) + 2);
    if (w->rows < 1 || is_repeated(t, c)) return true;
    if (span > CLAIM_PAGES_MAX - (int64_t)t->page_count) {
        t->left_out++;
        return true;
    }
    const uint32_t at = add_claim(t, c);
    int64_t done = -1; /* last page that was visited */
    for (int64_t r = 0; r < w->rows; r++) {
        const int64_t lo = w->first + r * w->pitch, last = (lo + w->row_bytes - 1) >> PAGE_BITS;
        for (int64_t page = lo >> PAGE_BITS; page <= last; page++) {
            if (page <= done) continue;
            done = page;
            const claim *other = visit_page(t, at, page, out);
            if (other == NULL) continue;
            *out_other_instance = other->instance;
            return false;
        }
    }
    return true;
}
