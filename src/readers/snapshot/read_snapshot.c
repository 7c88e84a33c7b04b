/* Reads pickled snapshots of PyTorch's allocator: the allocated memory of each device, by the site
 * that allocated it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "files.h"
#include "readers/pickle.h"

typedef struct reading {
    tm_snapshots *out;
    const tm_pickle *pickle;
    const char *file;
    size_t first; /* index in `out` of the first device of the file */
    tm_keys keys; /* keys of type site_key */
    tm_vec sites; /* vector of tm_snapshot_site, in the order of `keys` */
    /* [containers] owned. known[i] is 1 + the id of the text that names the stack in container i;
     * 0: the stack has no name yet. */
    uint32_t *known;
} reading;

typedef struct site_key {
    int64_t device;
    uint64_t text; /* id in out->texts */
} site_key;

/* Returns a size or count; negative values become 0. */
static int64_t amount(const reading *r, const tm_pickle_value *of, const char *key) {
    int64_t value = tm_pickle_int(r->pickle, of, key, 0);
    return value < 0 ? 0 : value;
}

static tm_snapshot_device *device_of(reading *r, int64_t number) {
    tm_snapshot_device *v = r->out->devices.data;
    for (size_t i = r->first; i < r->out->devices.n; i++)
        if (v[i].device == number)
            return &v[i];
    tm_snapshot_device *d = tm_vec_push(&r->out->devices);
    if (d)
        *d = (tm_snapshot_device){.file = r->file, .device = number};
    return d;
}

/* Whether a path seems to be a file of the user's program, not of a library. */
static bool is_own(const char *path) {
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".py") == 0 && !strstr(path, "/torch/") &&
           !strstr(path, "site-packages/") && !strstr(path, "dist-packages/");
}

/* Names a site after the innermost frame of the user's program; if there is none, after the
 * innermost frame. */
static uint32_t name_site(reading *r, const tm_pickle_value *frames) {
    enum { SITE = 512 };
    char text[SITE];
    size_t n, best = 0;
    const tm_pickle_value *v = tm_pickle_items(r->pickle, frames, &n);
    if (n == 0)
        return TM_NO_NAME;
    while (best < n && !is_own(tm_pickle_text(r->pickle, &v[best], "filename")))
        best++;
    const tm_pickle_value *frame = &v[best < n ? best : 0];
    snprintf(text, sizeof text, "%.300s:%" PRId64 " %.150s",
             tm_pickle_text(r->pickle, frame, "filename"),
             tm_pickle_int(r->pickle, frame, "line", 0), tm_pickle_text(r->pickle, frame, "name"));
    return tm_names_intern_string(r->out->texts, text);
}

/* Remembers the site of a stack, because many blocks have the same stack. */
static uint32_t site_of(reading *r, const tm_pickle_value *block) {
    const tm_pickle_value *frames = tm_pickle_get(r->pickle, block, "frames");
    if (!frames || frames->type != TM_PICKLE_LIST)
        return TM_NO_NAME;
    uint32_t *known = &r->known[frames->as.id];
    if (*known == 0) {
        uint32_t text = name_site(r, frames);
        if (text == TM_NAME_FAILED)
            return text;
        *known = text + 1;
    }
    return *known - 1;
}

static bool add_to_site(reading *r, int64_t device, const tm_pickle_value *block, int64_t size,
                        int64_t requested) {
    uint32_t text = site_of(r, block);
    const site_key key = {device, text};
    tm_snapshot_site *site =
        text == TM_NAME_FAILED ? NULL : tm_keys_value(&r->keys, &r->sites, &key);
    if (!site)
        return false;
    site->file = r->file;
    site->device = device;
    site->site = tm_names_text(r->out->texts, text).bytes;
    site->blocks++;
    site->bytes = tm_sum(site->bytes, size);
    site->requested_bytes = tm_sum(site->requested_bytes, requested);
    return true;
}

static bool add_block(reading *r, tm_snapshot_device *d, const tm_pickle_value *block) {
    const char *state = tm_pickle_text(r->pickle, block, "state");
    int64_t size = amount(r, block, "size");
    int64_t requested = tm_pickle_int(r->pickle, block, "requested_size", size);
    if (strcmp(state, "inactive") == 0) {
        d->free_bytes = tm_sum(d->free_bytes, size);
        d->largest_free_bytes = size > d->largest_free_bytes ? size : d->largest_free_bytes;
        return true;
    }
    if (strcmp(state, "active_allocated") != 0) { /* active_pending_free or active_awaiting_free */
        d->pending_bytes = tm_sum(d->pending_bytes, size);
        return true;
    }
    requested = requested < 0 ? 0 : requested;
    d->blocks++;
    d->allocated_bytes = tm_sum(d->allocated_bytes, size);
    d->requested_bytes = tm_sum(d->requested_bytes, requested);
    return add_to_site(r, d->device, block, size, requested);
}

static bool add_segment(reading *r, const tm_pickle_value *segment) {
    size_t n;
    tm_snapshot_device *d = device_of(r, tm_pickle_int(r->pickle, segment, "device", 0));
    const tm_pickle_value *blocks =
        tm_pickle_items(r->pickle, tm_pickle_get(r->pickle, segment, "blocks"), &n);
    if (!d)
        return false;
    d->segments++;
    d->reserved_bytes = tm_sum(d->reserved_bytes, amount(r, segment, "total_size"));
    for (size_t i = 0; i < n; i++)
        if (!add_block(r, d, &blocks[i]))
            return false;
    return true;
}

/* Computes earlier amounts of memory backwards from the current one, because the trace is a ring
 * buffer that may have lost its beginning. */
static bool add_trace(reading *r, int64_t device, const tm_pickle_value *trace) {
    size_t n;
    const tm_pickle_value *v = tm_pickle_items(r->pickle, trace, &n);
    tm_snapshot_device *d = n > 0 ? device_of(r, device) : NULL;
    if (!d)
        return n == 0;
    int64_t now = d->peak_bytes = d->allocated_bytes;
    d->entries = (int64_t)n;
    for (size_t i = n; i-- > 0;) {
        const char *action = tm_pickle_text(r->pickle, &v[i], "action");
        int64_t size = amount(r, &v[i], "size");
        d->ooms += strcmp(action, "oom") == 0;
        if (strcmp(action, "alloc") == 0)
            now = tm_sum(now, -size);
        else if (strcmp(action, "free_requested") == 0)
            now = tm_sum(now, size);
        d->peak_bytes = now > d->peak_bytes ? now : d->peak_bytes;
    }
    return true;
}

TM_ORDER_BY(by_device, tm_snapshot_device, device);

static int by_bytes(const void *a, const void *b) {
    const tm_snapshot_site *x = a, *y = b;
    int order = tm_order_i64(x->device, y->device);
    order = order != 0 ? order : tm_order_i64(y->bytes, x->bytes);
    return order != 0 ? order : strcmp(x->site, y->site);
}

static bool add_all(reading *r, const tm_pickle_value *segments) {
    size_t n, n_traces;
    const tm_pickle_value *v = tm_pickle_items(r->pickle, segments, &n);
    const tm_pickle_value *traces = tm_pickle_items(
        r->pickle, tm_pickle_get(r->pickle, &r->pickle->root, "device_traces"), &n_traces);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        ok = add_segment(r, &v[i]);
    for (size_t i = 0; i < n_traces && ok; i++)
        ok = add_trace(r, (int64_t)i, &traces[i]);
    if (r->out->devices.n > r->first)
        tm_sort((tm_snapshot_device *)r->out->devices.data + r->first, r->out->devices.n - r->first,
                sizeof(tm_snapshot_device), by_device);
    if (r->sites.n > 0)
        tm_sort(r->sites.data, r->sites.n, sizeof(tm_snapshot_site), by_bytes);
    return ok && (r->sites.n == 0 || tm_vec_append(&r->out->sites, r->sites.data, r->sites.n));
}

static tm_status read_pickle(reading *r, const tm_pickle *pickle, tm_source *source,
                             tm_error *err) {
    const tm_pickle_value *segments = tm_pickle_get(pickle, &pickle->root, "segments");
    r->pickle = pickle;
    r->file = tm_snapshots_text(r->out, tm_source_path(source));
    r->known = calloc(pickle->containers.n + 1, sizeof *r->known);
    if (!segments || segments->type != TM_PICKLE_LIST)
        return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                       "not a snapshot of torch.cuda.memory: the pickle has no list of segments");
    return r->file && r->known && add_all(r, segments) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_snapshot_read_pickle(tm_snapshots *snapshots, tm_source *source, tm_error *err) {
    tm_pickle pickle = TM_PICKLE;
    reading r = {.out = snapshots,
                 .first = snapshots->devices.n,
                 .keys = TM_KEYS(site_key),
                 .sites = TM_VEC(tm_snapshot_site)};
    tm_status status = tm_pickle_read(source, &pickle, err);
    if (status == TM_OK)
        status = read_pickle(&r, &pickle, source, err);
    tm_pickle_free(&pickle);
    tm_keys_free(&r.keys);
    tm_vec_free(&r.sites);
    free(r.known);
    return status;
}
