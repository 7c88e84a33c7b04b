/* Reads profiles of TensorFlow and JAX: *.xplane.pb, an XSpace as a protocol buffer. */
#include "base/letters.h"
#include "readers/formats.h"
#include "readers/xplane/gpu/xplane_gpu.h"
#include "readers/xplane/host/xplane_cpu.h"
#include "readers/xplane/host/xplane_host.h"
#include "readers/xplane/tpu/tpu.h"
#include "xplane_facts.h"
#include "xplane_units.h"

/* Whether the plane that starts here has a known name. The name may come after the plane's
 * number. */
static bool begins_plane(tm_wire_message plane) {
    static const char *const starts[] = {"/device:", "/host:", "Task Environment", "#Chip"};
    tm_wire_field field;
    bool taken = tm_wire_next(&plane, &field);
    while (taken && field.number == 1 && field.type == TM_WIRE_VARINT)
        taken = tm_wire_next(&plane, &field);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (taken && field.number == 2 && field.type == TM_WIRE_BYTES &&
            tm_text_begins(tm_wire_text(&field), starts[i]))
            return true;
    return false;
}

/* Whether the bytes are an XSpace with planes. Other fields, which are texts, may come before the
 * planes. */
static bool is_space(tm_wire_message space) {
    tm_wire_field field = {0};
    uint64_t tag, size;
    const uint8_t *p;
    for (;;) {
        p = tm_wire_varint(space.p, space.end, &tag);
        if (!p || (tag & 7) != TM_WIRE_BYTES || tag >> 3 < 1 || tag >> 3 > 4)
            return false;
        if (tag >> 3 == 1)
            break;
        if (!tm_wire_next(&space, &field))
            return false;
    }
    p = tm_wire_varint(p, space.end, &size);
    return p && begins_plane(
                    (tm_wire_message){p, size < (uint64_t)(space.end - p) ? p + size : space.end});
}

/* Recognises an XSpace that was saved as text, to report this to the user. */
static bool is_text_of_space(const char *head, size_t size) {
    bool plane = false;
    for (size_t i = 1; i + 8 < size && i < 64; i++)
        plane |= tm_text_begins((tm_text){head + i, size - i}, "/device:") ||
                 tm_text_begins((tm_text){head + i, size - i}, "/host:");
    return plane && head[0] == 0x0A && tm_space_was_text((const uint8_t *)head, size);
}

static bool xplane_sniff(const char *head, size_t size, bool whole) {
    const uint8_t *bytes = (const uint8_t *)head;
    (void)whole;
    return is_space((tm_wire_message){bytes, bytes + size}) || is_text_of_space(head, size);
}

static void set_device(tm_xread *r, const tm_unit *unit) {
    const tm_xdevice *devices = r->devices.data;
    for (size_t i = 0; i < r->devices.n && unit; i++)
        if (tm_xdevice_key(&devices[i]) == unit->process)
            r->device = devices + i;
    r->is_first = r->devices.n == 0 || r->device == devices;
}

static void count_without_epoch(tm_trace *trace) {
    const tm_raw_event *events = trace->events.data;
    for (size_t i = 0; i < trace->events.n && trace->base_ns < 0; i++)
        trace->counts[TM_COUNT_NO_EPOCH] += events[i].begin_ns < TM_FIRST_DAY_NS;
}

static size_t count_events(const tm_xplane *plane) {
    const tm_xline *lines = plane->lines.data;
    size_t n = 0;
    for (size_t i = 0; i < plane->lines.n; i++)
        n += (size_t)lines[i].n_events;
    return n;
}

/* Reserves memory for the largest possible number of events, as each call may get an operator
 * around it. Memory that is not used costs nothing. If reserving fails, the vectors grow as
 * needed. */
static void reserve(tm_xread *r) {
    const tm_xplane *planes = r->space.planes.data;
    size_t n_device = r->device ? count_events(r->device->plane) : 0, n_host = 0;
    for (size_t i = 0; i < r->space.planes.n; i++)
        n_host += tm_text_begins(planes[i].name, "/host:") ? count_events(&planes[i]) : 0;
    (void)tm_vec_reserve(&r->trace->events, 2 * n_device + n_host);
    (void)tm_vec_reserve(&r->trace->attrs[TM_ATTR_KERNEL], n_device);
    (void)tm_vec_reserve(&r->trace->attrs[TM_ATTR_LAUNCH], n_device < n_host ? n_device : n_host);
}

static tm_status read_events(tm_xread *r, tm_error *err) {
    tm_xlaunches launches = tm_xlaunches_make();
    tm_xsteps steps = tm_xsteps_make();
    tm_vec copies = TM_VEC(tm_xcopy_call), runs = TM_VEC(tm_tpu_span);
    reserve(r);
    bool tpu = r->device && r->device->kind == TM_X_TPU;
    bool cpu = r->device && r->device->kind == TM_X_CPU;
    tm_status status = tpu   ? tm_tpu_read(r, &launches, &steps, &runs, err)
                       : cpu ? tm_xcpu_read(r, err)
                             : tm_xgpu_read(r, &launches, &steps, err);
    if (status == TM_OK)
        status = tm_xhost_read(r, &launches, &steps, &copies, err);
    tm_xlaunches_free(&launches);
    if (status == TM_OK)
        status = tpu ? tm_tpu_complete_memory(r, err) : TM_OK;
    if (status == TM_OK)
        status = tpu ? tm_tpu_find_steps(r, &runs, &steps, err)
                     : tm_xgpu_find_copies(r, copies.data, copies.n, err);
    if (status == TM_OK)
        status = tm_xsteps_finish(&steps, r, err);
    count_without_epoch(r->trace);
    tm_vec_free(&copies);
    tm_vec_free(&runs);
    tm_xsteps_free(&steps);
    return status;
}

static tm_status read_space(tm_xread *r, const tm_unit *unit, const char *path, tm_error *err) {
    TM_TRY(tm_xspace_devices(&r->space, &r->devices, err));
    if (!unit && r->devices.n > 1)
        return tm_fail(err, TM_ERR_INPUT, path, -1, "this profile contains %zu ranks",
                       r->devices.n);
    const tm_xdevice *devices = r->devices.data;
    const tm_unit only = {.process = r->devices.n == 1 ? tm_xdevice_key(devices) : -1};
    set_device(r, unit ? unit : &only);
    if (unit && !r->device)
        return tm_fail(err, TM_ERR_INPUT, path, -1, "the file has changed since it was listed");
    tm_text host = tm_xspace_host(&r->space, path);
    r->trace->host = tm_xread_intern(r, host);
    tm_xfacts_set_epoch(r);
    TM_TRY(read_events(r, err));
    return tm_xfacts_read(r, err);
}

static tm_status xplane_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                                  tm_trace *out, tm_error *err) {
    tm_xread r = {.names = names,
                  .trace = out,
                  .devices = TM_VEC(tm_xdevice),
                  .scratch = TM_VEC(char),
                  .allocators = TM_VEC(tm_xallocator)};
    tm_status status = tm_space_open(source, &r.space, err);
    if (status == TM_OK)
        status = read_space(&r, unit, tm_source_path(source), err);
    tm_space_close(&r.space);
    TM_VECS_FREE(&r.devices, &r.scratch, &r.allocators);
    return status;
}

static tm_status xplane_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    return xplane_read_unit(source, NULL, names, out, err);
}

/* XProf writes its results, such as ALL_HOSTS.op_stats_v2.pb, next to the profile. */
static bool xplane_is_result(const char *path, const char *other) {
    const char *slash = strrchr(path, '/'), *there = strrchr(other, '/');
    const size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    const size_t size = strlen(path), size_there = strlen(other);
    return tm_ends_with(path, size, ".pb") && !tm_ends_with(path, size, ".xplane.pb") &&
           tm_ends_with(other, size_there, ".xplane.pb") &&
           (there ? (size_t)(there - other) + 1 : 0) == folder && memcmp(path, other, folder) == 0;
}

/* Where profiles are, relative to the log folder, or to a folder between the log folder and a
 * run. */
static const char *const in_folders[] = {"plugins/profile/*/*", "profile/*/*.xplane.pb*",
                                         "*/*.xplane.pb*", NULL};

const tm_format tm_format_xplane = {
    .name = "xplane",
    .summary = "TensorFlow and JAX: profiles (*.xplane.pb), one file for each host",
    .cannot_tell =
        "GPU collectives have no group or size if the profile does not contain their programs, or "
        "if groups depend on the numbers of processes. Waits between streams are not recorded. If "
        "steps of TPUs are not marked, they are the runs of a program, counted from the start of "
        "each recording. Before JAX 0.8, CPU devices are not recorded",
    .in_folders = in_folders,
    .one_folder = true,
    .by_path = true,
    .sniff = xplane_sniff,
    .read = xplane_read,
    .list_units = tm_xplane_list_units,
    .read_unit = xplane_read_unit,
    .is_result = xplane_is_result,
};
