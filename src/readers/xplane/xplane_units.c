#include "xplane_units.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "readers/xplane/host/xplane_cpu.h"

/* Whether a plane is a device that can be a rank: "/device:GPU:4". */
static bool names_device(const tm_xplane *plane, tm_xkind *kind, int64_t *number) {
    static const char *const starts[] = {[TM_X_GPU] = "/device:GPU:", [TM_X_TPU] = "/device:TPU:"};
    for (int k = 0; k < 2; k++) {
        size_t at = strlen(starts[k]), size = plane->name.size;
        if (!tm_text_begins(plane->name, starts[k]) || at == size || size - at > 6)
            continue;
        *kind = (tm_xkind)k;
        *number = 0;
        for (; at < size && plane->name.bytes[at] >= '0' && plane->name.bytes[at] <= '9'; at++)
            *number = *number * 10 + (plane->name.bytes[at] - '0');
        return at == size;
    }
    return false;
}

static bool has_work(const tm_xplane *plane, tm_xkind kind) {
    const tm_xline *lines = plane->lines.data;
    for (size_t i = 0; i < plane->lines.n; i++)
        if (lines[i].n_events > 0 && tm_xline_counts(kind, &lines[i]))
            return true;
    return false;
}

TM_ORDER_BY(by_number, tm_xdevice, number, plane_index);

/* Adds CPUs as devices only if there are no others. Other devices do the work of the job, even if
 * planes of the host also have operations that XLA ran on the CPU. */
static tm_status add_cpus(tm_space *space, tm_vec *out, tm_error *err) {
    const tm_xplane *planes = space->planes.data;
    tm_status status = TM_OK;
    for (size_t i = 0; i < space->planes.n && out->n == 0 && status == TM_OK; i++)
        if (tm_text_is(planes[i].name, "/host:CPU"))
            status = tm_xcpu_devices(space, &planes[i], (int64_t)i, out, err);
    return status;
}

tm_status tm_xspace_devices(tm_space *space, tm_vec *out, tm_error *err) {
    const tm_xplane *planes = space->planes.data;
    for (size_t i = 0; i < space->planes.n; i++) {
        tm_xdevice device = {.plane = &planes[i], .plane_index = (int64_t)i};
        if (!names_device(&planes[i], &device.kind, &device.number) ||
            !has_work(&planes[i], device.kind))
            continue;
        if (!tm_vec_append(out, &device, 1))
            return tm_fail_memory(err);
    }
    if (out->n == 0)
        TM_TRY(add_cpus(space, out, err));
    tm_vec_sort(out, by_number);
    return TM_OK;
}

tm_text tm_xspace_host(const tm_space *space, const char *path) {
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    const char *end = strstr(base, ".xplane.pb");
    if (end && end > base)
        return (tm_text){base, (size_t)(end - base)};
    return space->hostnames.n > 0 ? *(const tm_text *)space->hostnames.data : (tm_text){"", 0};
}

static tm_status add_units(tm_space *space, const char *path, tm_vec *units, tm_error *err) {
    tm_vec devices = TM_VEC(tm_xdevice);
    tm_text host = tm_xspace_host(space, path);
    tm_status status = tm_xspace_devices(space, &devices, err);
    const tm_xdevice *v = devices.data;
    for (size_t i = 0; status == TM_OK && i < devices.n; i++) {
        const tm_unit unit = {
            .process = tm_xdevice_key(&v[i]),
            .devices = (int64_t)tm_unit_device(v[i].number),
            .rank = v[i].kind == TM_X_CPU ? tm_xcpu_rank(v[i].number, devices.n) : -1,
            .host = host.size > 0 ? (int64_t)tm_hash(TM_HASH_BEGIN, host.bytes, host.size) : 0,
            .clock_ns = -1};
        if (!tm_vec_append(units, &unit, 1))
            status = tm_fail_memory(err);
    }
    tm_vec_free(&devices);
    return status;
}

tm_status tm_xplane_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                               tm_error *err) {
    tm_space space;
    (void)known;
    *foreign = false;
    tm_status status = tm_space_open(source, &space, err);
    if (status == TM_OK)
        status = add_units(&space, tm_source_path(source), units, err);
    tm_space_close(&space);
    return status;
}
