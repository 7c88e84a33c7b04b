#include "xplane_launches.h"

#include <stdlib.h>

enum { PAGE_BITS = 6, PAGE = 1 << PAGE_BITS, FIRST_MASK = 255 };

typedef struct page {
    uint64_t number; /* correlation id >> PAGE_BITS */
    tm_xlaunch launches[PAGE];
} page;

tm_xlaunches tm_xlaunches_make(void) {
    return (tm_xlaunches){.pages = TM_VEC(page)};
}

void tm_xlaunches_free(tm_xlaunches *all) {
    tm_vec_free(&all->pages);
    free(all->slots);
    all->slots = NULL;
}

static uint32_t *find_slot(const tm_xlaunches *all, uint64_t number) {
    const page *pages = all->pages.data;
    size_t at = (size_t)(number * 0x9E3779B97F4A7C15u >> 32) & all->mask;
    while (all->slots[at] != 0 && pages[all->slots[at] - 1].number != number)
        at = (at + 1) & all->mask;
    return &all->slots[at];
}

static bool grow(tm_xlaunches *all) {
    const page *pages = all->pages.data;
    size_t mask = all->slots ? all->mask * 2 + 1 : FIRST_MASK;
    uint32_t *slots = calloc(mask + 1, sizeof *slots);
    if (!slots)
        return false;
    free(all->slots);
    all->slots = slots;
    all->mask = mask;
    for (size_t i = 0; pages && i < all->pages.n; i++)
        *find_slot(all, pages[i].number) = (uint32_t)(i + 1);
    return true;
}

/* Returns the page with a number; NULL if there is none. */
static page *find_page(tm_xlaunches *all, uint64_t number) {
    page *pages = all->pages.data;
    if (all->last < all->pages.n && pages[all->last].number == number)
        return &pages[all->last];
    uint32_t slot = all->slots ? *find_slot(all, number) : 0;
    if (slot == 0)
        return NULL;
    all->last = slot - 1;
    return &pages[all->last];
}

static page *add_page(tm_xlaunches *all, uint64_t number) {
    if ((!all->slots || all->pages.n >= all->mask / 2) && !grow(all))
        return NULL;
    page *added = all->pages.n < UINT32_MAX - 1 ? tm_vec_push(&all->pages) : NULL;
    if (!added)
        return NULL;
    added->number = number;
    for (int i = 0; i < PAGE; i++)
        added->launches[i].device = -1;
    *find_slot(all, number) = (uint32_t)all->pages.n;
    all->last = all->pages.n - 1;
    return added;
}

bool tm_xlaunches_add(tm_xlaunches *all, int64_t correlation, tm_xlaunch launch) {
    uint64_t id = (uint64_t)correlation;
    page *of = find_page(all, id >> PAGE_BITS);
    if (!of)
        of = add_page(all, id >> PAGE_BITS);
    if (of && of->launches[id % PAGE].device < 0)
        of->launches[id % PAGE] = launch;
    return of;
}

const tm_xlaunch *tm_xlaunches_find(tm_xlaunches *all, int64_t correlation) {
    uint64_t id = (uint64_t)correlation;
    const page *of = correlation != 0 ? find_page(all, id >> PAGE_BITS) : NULL;
    return of && of->launches[id % PAGE].device >= 0 ? &of->launches[id % PAGE] : NULL;
}
