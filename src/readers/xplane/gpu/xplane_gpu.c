#include "xplane_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/letters.h"
#include "base/sorted.h"
#include "gpu_programs.h"
#include "xplane_details.h"

enum { OPERATIONS = 1 << 13 };

/* What the name of a metadata entry says about its events. */
typedef struct name_info {
    uint32_t name;    /* 1 + name id; 0: not set yet */
    uint8_t category; /* tm_category */
} name_info;

/* A cached name of an operator. The name is composed of a module and a name. */
typedef struct operation {
    uint32_t module, name, composed;
} operation;

typedef struct gpu {
    tm_xread *r;
    tm_xlaunches *launches;
    tm_xsteps *steps;
    tm_xstats stats;
    name_info *infos;      /* [plane->metadata.n] owned */
    operation *operations; /* [OPERATIONS] owned */
    tm_vec details;        /* vector of tm_launch_shape: one for each parsed text */
    uint32_t *detail_at;   /* [plane->stat_names.n] 1 + index in `details` of each text; 0: not
                              parsed yet; owned */
    tm_gpu_programs programs;
    int64_t multiprocessors;
    int32_t device; /* index in r->devices */
} gpu;

/* "MemcpyH2D" and "CopyHostToDevice" are copies, "Memset" is a set. */
static tm_category category_of(tm_text name) {
    if (tm_text_begins(name, "Memset") || tm_text_begins(name, "hipMemset"))
        return TM_CAT_MEMSET;
    bool copy = tm_text_begins(name, "Memcpy") || tm_text_begins(name, "hipMemcpy") ||
                (tm_text_begins(name, "Copy") && tm_text_holds(name, "To"));
    return copy ? TM_CAT_MEMCPY : TM_CAT_KERNEL;
}

/* Names a copy as Kineto does, because the analyses know these names. */
static const char *copy_word(tm_text name) {
    static const char *const words[][2] = {
        {"H2D", "HtoD"}, {"HtoD", "HtoD"}, {"HostToDevice", "HtoD"},
        {"D2H", "DtoH"}, {"DtoH", "DtoH"}, {"DeviceToHost", "DtoH"},
        {"D2D", "DtoD"}, {"DtoD", "DtoD"}, {"DeviceToDevice", "DtoD"},
        {"P2P", "PtoP"}, {"PtoP", "PtoP"}, {"Peer", "PtoP"},
        {"H2H", "HtoH"}, {"HtoH", "HtoH"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tm_text_holds(name, words[i][0]))
            return words[i][1];
    return "Unknown";
}

static uint32_t name_copy(tm_xread *r, tm_category category, tm_text name, tm_text details) {
    char memories[48], text[96];
    tm_xdetails_memories(details, memories, sizeof memories);
    if (category == TM_CAT_MEMSET)
        return tm_names_intern_string(r->names, "Memset");
    snprintf(text, sizeof text, "Memcpy %s%s", copy_word(name), memories);
    return tm_names_intern_string(r->names, text);
}

static name_info *info_of(gpu *g, int64_t id, const tm_xmeta **meta) {
    const tm_xplane *plane = g->stats.plane;
    *meta = tm_xplane_metadata(plane, id);
    if (!*meta)
        return NULL;
    name_info *info = &g->infos[*meta - (const tm_xmeta *)plane->metadata.data];
    if (info->name == 0) {
        info->name = tm_xread_intern(g->r, (*meta)->name) + 1;
        info->category = (uint8_t)category_of((*meta)->name);
    }
    return info;
}

/* Returns the name of the operation to which a kernel belongs. With XLA, this is the name in the
 * source; if that is missing, the operation and its module. With TensorFlow, it is the operation,
 * which older versions wrote as the first annotation. */
static uint32_t operation_of(gpu *g, const tm_xvalues *v) {
    tm_xread *r = g->r;
    if (tm_x_has(v, TM_X_NAME))
        return tm_xread_intern_stat(r, &g->stats, &v->values[TM_X_NAME]);
    if (!tm_x_has(v, TM_X_HLO_OP)) {
        tm_xrole role = tm_x_has(v, TM_X_TF_OP) ? TM_X_TF_OP : TM_X_LEVEL_0;
        return tm_x_has(v, role) ? tm_xread_intern_stat(r, &g->stats, &v->values[role])
                                 : TM_NO_NAME;
    }
    uint32_t name = tm_xread_intern_stat(r, &g->stats, &v->values[TM_X_HLO_OP]);
    uint32_t module = tm_x_has(v, TM_X_HLO_MODULE)
                          ? tm_xread_intern_stat(r, &g->stats, &v->values[TM_X_HLO_MODULE])
                          : TM_NO_NAME;
    if (name == TM_NAME_FAILED || module == TM_NAME_FAILED)
        return TM_NAME_FAILED;
    operation *known = &g->operations[(name * 31u + module) % OPERATIONS];
    if (module == TM_NO_NAME || name == TM_NO_NAME)
        return name;
    if (known->module != module || known->name != name) {
        tm_text a = tm_names_text(r->names, module), b = tm_names_text(r->names, name);
        r->scratch.n = 0;
        if (!tm_vec_append(&r->scratch, a.bytes, a.size) || !tm_vec_append(&r->scratch, "/", 1) ||
            !tm_vec_append(&r->scratch, b.bytes, b.size))
            return TM_NAME_FAILED;
        *known =
            (operation){module, name, tm_names_intern(r->names, r->scratch.data, r->scratch.n)};
    }
    return known->composed;
}

static bool add_launch(gpu *g, const tm_xvalues *v, bool own) {
    int64_t correlation = tm_x_int(v, TM_X_CORRELATION, 0);
    tm_xlaunch launch = {.operation = TM_NO_NAME, .device = g->device};
    if (correlation == 0)
        return true;
    if (own)
        launch.operation = operation_of(g, v);
    if (g->r->devices.n == 1 && launch.operation == TM_NO_NAME)
        /* nothing to record: there is no operator, and all calls belong to the only device */
        return true;
    return launch.operation != TM_NAME_FAILED && tm_xlaunches_add(g->launches, correlation, launch);
}

/* Sets blocks and warps per multiprocessor, as defined by Kineto. */
static void set_load(int64_t multiprocessors, tm_launch_shape *shape) {
    double blocks = 1, threads = 1;
    for (int i = 0; i < 3; i++) {
        blocks *= shape->grid[i];
        threads *= shape->block[i];
    }
    if (multiprocessors > 0 && shape->grid[0] > 0 && shape->block[0] > 0) {
        shape->blocks_per_sm = (float)(blocks / (double)multiprocessors);
        shape->warps_per_sm = (float)(blocks * threads / 32 / (double)multiprocessors);
    }
}

/* Gets the parsed details of a text. There are few texts, so the details are cached by the text's
 * id. */
static bool details_of(gpu *g, const tm_xstat *stat, tm_launch_shape *out) {
    size_t at = stat->type == TM_X_REF ? tm_xplane_stat_index(g->stats.plane, stat->i) : SIZE_MAX;
    if (at != SIZE_MAX && g->detail_at[at] > 0) {
        *out = ((const tm_launch_shape *)g->details.data)[g->detail_at[at] - 1];
        return true;
    }
    tm_xdetails_kernel(tm_xstat_text(g->stats.plane, stat), out);
    set_load(g->multiprocessors, out);
    if (at == SIZE_MAX)
        return true;
    if (!tm_vec_append(&g->details, out, 1))
        return false;
    g->detail_at[at] = (uint32_t)g->details.n;
    return true;
}

static bool add_kernel(gpu *g, uint32_t row, const tm_xvalues *v) {
    tm_launch_shape shape = tm_launch_shape_bare();
    if (tm_x_has(v, TM_X_KERNEL_DETAILS) && !details_of(g, &v->values[TM_X_KERNEL_DETAILS], &shape))
        return false;
    if (tm_x_has(v, TM_X_OCCUPANCY) && v->values[TM_X_OCCUPANCY].r > 0)
        shape.occupancy_pct = (float)v->values[TM_X_OCCUPANCY].r;
    return tm_trace_add_kernel(g->r->trace, row, tm_x_int(v, TM_X_CORRELATION, 0), &shape);
}

static tm_copy_attr copy_of(tm_text details, int64_t correlation, uint32_t row,
                            const tm_raw_event *event) {
    tm_copy_attr attr = {.event = row,
                         .correlation = correlation,
                         .bytes = tm_xdetails_bytes(details),
                         .bandwidth_gbps = NAN};
    if (attr.bytes >= 0 && event->duration_ns > 0) /* bytes per nanosecond are GB/s */
        attr.bandwidth_gbps = (float)((double)attr.bytes / (double)event->duration_ns);
    return attr;
}

static tm_text copy_details(const gpu *g, const tm_xvalues *v) {
    tm_xrole role = tm_x_has(v, TM_X_MEMCPY_DETAILS) ? TM_X_MEMCPY_DETAILS : TM_X_MEMSET_DETAILS;
    return tm_x_has(v, role) ? tm_xstat_text(g->stats.plane, &v->values[role]) : (tm_text){"", 0};
}

/* Whether an annotation is an operator. XLA's annotation "XlaModule:" is not. */
static bool names_operator(const gpu *g, const tm_xvalues *v) {
    return tm_x_has(v, TM_X_TF_OP) &&
           !tm_text_is(tm_xstat_text(g->stats.plane, &v->values[TM_X_TF_OP]), "XlaModule:");
}

/* Adds the data of an operator. For an operator of TensorFlow, this is only its name, and the types
 * and shapes of its inputs. */
static bool add_facts(gpu *g, uint32_t row, const tm_xvalues *v) {
    const tm_xrole origin = tm_x_has(v, TM_X_NAME) ? TM_X_NAME
                            : names_operator(g, v) ? TM_X_TF_OP
                                                   : TM_X_LEVEL_0;
    const tm_xrole roles[] = {TM_X_HLO_MODULE, TM_X_HLO_OP, TM_X_SHAPE, origin};
    uint32_t names[4];
    bool any = false;
    for (int i = 0; i < 4; i++) {
        names[i] = tm_x_has(v, roles[i])
                       ? tm_xread_intern_stat(g->r, &g->stats, &v->values[roles[i]])
                       : TM_NO_NAME;
        any |= names[i] != TM_NO_NAME;
        if (names[i] == TM_NAME_FAILED)
            return false;
    }
    const tm_xla_attr attr = {.event = row,
                              .flops = -1,
                              .bytes = -1,
                              .program = names[0],
                              .hlo = names[1],
                              .category = TM_NO_NAME,
                              .origin = names[3],
                              .shape = names[2]};
    return !any || (tm_vec_append(&g->r->trace->attrs[TM_ATTR_XLA], &attr, 1) &&
                    tm_gpu_programs_add(&g->programs, tm_x_int(v, TM_X_PROGRAM, -1), names[1]));
}

/* Adds an event of a stream. */
static tm_status take_work(gpu *g, const tm_xline *line, uint32_t track, const tm_xevent *at,
                           const tm_xvalues *v, tm_error *err) {
    tm_xread *r = g->r;
    const tm_xmeta *meta;
    const name_info *info = info_of(g, at->metadata, &meta);
    uint32_t row;
    tm_raw_event event = {.name = info ? info->name - 1 : TM_NO_NAME,
                          .category = info ? info->category : TM_CAT_KERNEL,
                          .track = track,
                          .kind = TM_DURATION,
                          .launch = TM_NO_EVENT};
    if (tm_x_has(v, TM_X_MEMCPY_DETAILS) || tm_x_has(v, TM_X_MEMSET_DETAILS))
        event.category = tm_x_has(v, TM_X_MEMCPY_DETAILS) ? TM_CAT_MEMCPY : TM_CAT_MEMSET;
    tm_text details = copy_details(g, v);
    if (event.category != TM_CAT_KERNEL)
        event.name =
            name_copy(r, (tm_category)event.category, info ? meta->name : details, details);
    TM_TRY(tm_xread_add(r, line, at, event, &row, err));
    if (row == TM_NO_EVENT)
        return TM_OK;
    bool ok = add_launch(g, v, true) && add_facts(g, row, v);
    if (ok && event.category == TM_CAT_KERNEL)
        ok = add_kernel(g, row, v);
    else if (ok) {
        tm_copy_attr attr = copy_of(details, tm_x_int(v, TM_X_CORRELATION, 0), row,
                                    (const tm_raw_event *)r->trace->events.data + row);
        ok = tm_vec_append(&r->trace->attrs[TM_ATTR_COPY], &attr, 1);
    }
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Adds an event of a derived line: an annotation or a step. */
static tm_status take_derived(gpu *g, const tm_xline *line, uint32_t track, const tm_xevent *at,
                              const tm_xvalues *v, tm_error *err) {
    const tm_xmeta *meta;
    const name_info *info = info_of(g, at->metadata, &meta);
    uint32_t row;
    const tm_raw_event event = {.name = info ? info->name - 1 : TM_NO_NAME,
                                .category = TM_CAT_GPU_ANNOTATION,
                                .track = track,
                                .kind = TM_DURATION,
                                .launch = TM_NO_EVENT};
    TM_TRY(tm_xread_add(g->r, line, at, event, &row, err));
    if (row == TM_NO_EVENT || !tm_text_is(line->name, "Steps"))
        return TM_OK;
    return tm_xsteps_mark(g->steps, (const tm_raw_event *)g->r->trace->events.data + row,
                          info ? meta->name : (tm_text){"", 0}, v)
               ? TM_OK
               : tm_fail_memory(err);
}

static tm_status read_line(gpu *g, const tm_xline *line, bool own, tm_error *err) {
    bool counts = tm_xline_counts(TM_X_GPU, line), more;
    int64_t number = ((const tm_xdevice *)g->r->devices.data)[g->device].number;
    tm_xevent event;
    tm_xvalues v;
    if (line->n_events == 0 || (!own && !counts))
        return TM_OK;
    uint32_t track = own ? tm_xread_stream(g->r, line, counts) : 0;
    TM_TRY(tm_space_enter(&g->r->space, line, err));
    for (;;) {
        TM_TRY(tm_xstats_next(&g->stats, &g->r->space, &event, &v, &more, err));
        if (!more)
            return TM_OK;
        if (!tm_gpu_programs_ran(&g->programs, tm_x_int(&v, TM_X_PROGRAM, -1), number))
            return tm_fail_memory(err);
        if (!own) {
            if (!add_launch(g, &v, false))
                return tm_fail_memory(err);
        } else if (counts) {
            TM_TRY(take_work(g, line, track, &event, &v, err));
        } else {
            TM_TRY(take_derived(g, line, track, &event, &v, err));
        }
    }
}

static tm_status read_plane(gpu *g, const tm_xdevice *device, bool own, tm_error *err) {
    const tm_xplane *plane = device->plane;
    tm_xstat cores;
    TM_TRY(tm_xstats_init(&g->stats, plane, err));
    g->multiprocessors = tm_xplane_stat(plane, "core_count", &cores) ? cores.i : -1;
    g->details = TM_VEC(tm_launch_shape);
    g->infos = calloc(plane->metadata.n + 1, sizeof *g->infos);
    g->detail_at = calloc(plane->stat_names.n + 1, sizeof *g->detail_at);
    bool ready = g->infos && g->detail_at;
    tm_status status = ready ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; ready && i < plane->lines.n && status == TM_OK; i++)
        status = read_line(g, (const tm_xline *)plane->lines.data + i, own, err);
    free(g->infos);
    free(g->detail_at);
    tm_vec_free(&g->details);
    tm_xstats_free(&g->stats);
    return status;
}

tm_status tm_xgpu_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps, tm_error *err) {
    const tm_xdevice *devices = r->devices.data;
    gpu g = {.r = r,
             .launches = launches,
             .steps = steps,
             .operations = calloc(OPERATIONS, sizeof *g.operations),
             .programs = tm_gpu_programs_make()};
    tm_status status = g.operations ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < r->devices.n && status == TM_OK; i++) {
        g.device = (int32_t)i;
        if (devices[i].kind == TM_X_GPU)
            status = read_plane(&g, &devices[i], devices + i == r->device, err);
    }
    if (status == TM_OK)
        status = tm_gpu_programs_tell(&g.programs, r, err);
    tm_gpu_programs_free(&g.programs);
    free(g.operations);
    return status;
}

TM_ORDER_BY(by_correlation, tm_xcopy_call, correlation, name);

/* Turns a kernel into a copy of unknown size: neither the kernel nor its call records the size. */
static bool make_copy(tm_xread *r, const tm_kernel_attr *kernel, const tm_xcopy_call *call) {
    tm_raw_event *event = (tm_raw_event *)r->trace->events.data + kernel->event;
    tm_text api = tm_names_text(r->names, call->name);
    event->category = tm_text_holds(api, "emset") ? TM_CAT_MEMSET : TM_CAT_MEMCPY;
    event->name = name_copy(r, (tm_category)event->category, api, (tm_text){"", 0});
    tm_copy_attr attr = copy_of((tm_text){"", 0}, kernel->correlation, kernel->event, event);
    return event->name != TM_NAME_FAILED && tm_vec_append(&r->trace->attrs[TM_ATTR_COPY], &attr, 1);
}

TM_ORDER_BY(by_event, tm_copy_attr, event);

tm_status tm_xgpu_find_copies(tm_xread *r, tm_xcopy_call *calls, size_t n, tm_error *err) {
    tm_vec *kernels = &r->trace->attrs[TM_ATTR_KERNEL], *copies = &r->trace->attrs[TM_ATTR_COPY];
    tm_kernel_attr *v = kernels->data;
    size_t kept = 0;
    if (n == 0 || kernels->n == 0)
        return TM_OK;
    qsort(calls, n, sizeof *calls, by_correlation);
    for (size_t i = 0; i < kernels->n; i++) {
        size_t low = 0, high = n;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (calls[middle].correlation < v[i].correlation)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == n || calls[low].correlation != v[i].correlation)
            v[kept++] = v[i];
        else if (!make_copy(r, &v[i], &calls[low]))
            return tm_fail_memory(err);
    }
    kernels->n = kept;
    tm_vec_sort(copies, by_event);
    return TM_OK;
}
