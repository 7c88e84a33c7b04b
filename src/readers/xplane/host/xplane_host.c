#include "xplane_host.h"

#include <stdlib.h>

#include "readers/xplane/gpu/xplane_gpu.h"
#include "readers/xplane/tpu/tpu.h"
#include "xplane_cpu.h"

/* The kind of an event, which follows from its name. */
typedef enum host_kind { ANNOTATION, PYTHON, OPERATOR, ALLOCATION, RELEASE, NEXT_BATCH } host_kind;

typedef struct name_info {
    uint32_t name; /* 1 + name id; 0: not set yet */
    uint8_t kind;  /* host_kind */
    bool copies;   /* calls of this name copy or set memory */
} name_info;

/* An event that is being added to the trace. */
typedef struct taken {
    const tm_xline *line;
    const tm_xevent *at;
    const name_info *info; /* NULL if the event's metadata is missing */
    tm_xvalues *v;
    uint32_t track;
    host_kind kind;
} taken;

/* Owner of an event: this rank (OWN), other ranks (OTHERS), the rank of its thread (THREADS), or
 * all ranks (EVERYBODYS). WAITS: the event may be a wait. The owner is kept in the member `launch`
 * of the raw event until the thread has been read. */
typedef enum owner { OWN, OTHERS, THREADS, EVERYBODYS, WAITS } owner;

typedef struct host {
    tm_xread *r;
    tm_xlaunches *launches;
    tm_xsteps *steps;
    tm_vec *copies;
    tm_xstats stats;
    name_info *infos;     /* [plane->metadata.n] owned */
    uint32_t memory_name; /* name id of "[memory]" */
    tm_vec allocators;    /* vector of uint32_t: name ids of allocators of host memory */
    /* the device of all calls of the thread; -1: none; -2: several devices */
    int32_t thread_device;
    int64_t operator_end_ns; /* latest end of an operator on the thread so far */
    int64_t stage_end_ns;    /* latest end of a stage of the input pipeline so far */
    /* marks_steps: the thread has marks of steps. waits: the thread waits for input. */
    bool marks_steps, waits;
} host;

enum { NO_DEVICE = -1, SEVERAL = -2 };

/* Whether a name has the form of a TensorFlow operation, with the type after the colon:
 * "scope/MatMul:MatMul". */
static bool is_operation(tm_text name) {
    size_t at = name.size;
    while (at > 0 &&
           (name.bytes[at - 1] == '_' || (name.bytes[at - 1] >= '0' && name.bytes[at - 1] <= '9') ||
            (name.bytes[at - 1] >= 'A' && name.bytes[at - 1] <= 'Z') ||
            (name.bytes[at - 1] >= 'a' && name.bytes[at - 1] <= 'z')))
        at--;
    if (at < 2 || at == name.size || name.bytes[at - 1] != ':' || name.bytes[at - 2] == ':')
        return false;
    bool type = name.bytes[at] == '_' || (name.bytes[at] >= 'A' && name.bytes[at] <= 'Z');
    return type && !memchr(name.bytes, ' ', name.size);
}

/* Whether a name is like "IteratorGetNextOp::DoCompute". */
static bool fetches_batch(tm_text name) {
    static const char end[] = "::DoCompute";
    return tm_text_begins(name, "IteratorGetNext") && name.size > sizeof end &&
           memcmp(name.bytes + name.size - (sizeof end - 1), end, sizeof end - 1) == 0;
}

static host_kind kind_of(tm_text name) {
    if (name.size > 0 && name.bytes[0] == '$')
        return PYTHON;
    if (tm_text_is(name, "MemoryAllocation"))
        return ALLOCATION;
    if (tm_text_is(name, "MemoryDeallocation"))
        return RELEASE;
    if (fetches_batch(name))
        return NEXT_BATCH;
    return is_operation(name) ? OPERATOR : ANNOTATION;
}

/* Whether a call of HIP copies or sets memory. (With CUDA, the work of such calls is recorded as
 * copies. ROCm records it as kernels.) */
static bool names_copy(tm_text name) {
    return tm_text_begins(name, "hipMemcpy") || tm_text_begins(name, "hipMemset");
}

static const name_info *info_of(host *h, int64_t id) {
    const tm_xplane *plane = h->stats.plane;
    const tm_xmeta *meta = tm_xplane_metadata(plane, id);
    if (!meta)
        return NULL;
    name_info *info = &h->infos[meta - (const tm_xmeta *)plane->metadata.data];
    if (info->name == 0) {
        info->name = tm_xread_intern(h->r, meta->name) + 1;
        info->kind = (uint8_t)kind_of(meta->name);
        info->copies = names_copy(meta->name);
    }
    return info;
}

/* Returns the number in "GPU_4_bfc"; -1 if there is none, because the allocator is for host
 * memory. */
static int64_t device_of_allocator(tm_text name) {
    int64_t number = 0;
    size_t at = 4;
    if (!tm_text_begins(name, "GPU_"))
        return -1;
    for (; at < name.size && at < 10 && name.bytes[at] >= '0' && name.bytes[at] <= '9'; at++)
        number = number * 10 + (name.bytes[at] - '0');
    return at > 4 && (at == name.size || name.bytes[at] == '_') ? number : -1;
}

/* Returns the number of the device of an allocation. It is found from the name of the allocator. On
 * a TPU, the event has no allocator, but the number itself. */
static int64_t device_of_memory(const host *h, const tm_xvalues *v) {
    return tm_x_has(v, TM_X_ALLOCATOR)
               ? device_of_allocator(tm_xstat_text(h->stats.plane, &v->values[TM_X_ALLOCATOR]))
               : tm_x_int(v, TM_X_INDEX_ON_HOST, -1);
}

/* Returns torch's number of a device type. */
static int32_t type_of_memory(const host *h, bool of_device) {
    enum { CPU = 0, CUDA = 1, XLA = 9 };
    bool tpu = h->r->device && h->r->device->kind == TM_X_TPU;
    return !of_device ? CPU : tpu ? XLA : CUDA;
}

/* Returns the owner of an allocation: the rank of its device. If the file does not have this
 * device, the owner is the first rank. */
static owner owner_of_memory(const tm_xread *r, int64_t number) {
    const tm_xdevice *devices = r->devices.data;
    for (size_t i = 0; i < r->devices.n && number >= 0; i++)
        if (devices[i].number == number)
            return devices + i == r->device ? OWN : OTHERS;
    return r->is_first ? OWN : OTHERS;
}

/* Sets *number to the number of an allocator of host memory: -1 for the first allocator, then 1, 2,
 * ... */
static bool number_allocator(host *h, tm_xstat *stat, int64_t *number) {
    uint32_t name = tm_xread_intern_stat(h->r, &h->stats, stat);
    const uint32_t *v = h->allocators.data;
    size_t at = 0;
    while (at < h->allocators.n && v[at] != name)
        at++;
    *number = at > 0 ? (int64_t)at : -1;
    return name != TM_NAME_FAILED &&
           (at < h->allocators.n || tm_vec_append(&h->allocators, &name, 1));
}

/* Records the name and the limit of an allocator. */
static bool tell_allocator(host *h, const tm_memory_attr *attr, tm_xvalues *v) {
    tm_vec *known = &h->r->allocators;
    int64_t available = tm_x_int(v, TM_X_AVAILABLE, -1), limit = -1;
    if (available > 0 && attr->allocated_bytes >= 0 &&
        available <= INT64_MAX - attr->allocated_bytes)
        limit = attr->allocated_bytes + available;
    for (size_t i = 0; i < known->n; i++) {
        tm_xallocator *own = (tm_xallocator *)known->data + i;
        if (own->type != attr->device_type || own->device != attr->device)
            continue;
        own->limit_bytes = limit > own->limit_bytes ? limit : own->limit_bytes;
        return true;
    }
    const tm_xallocator own = {
        .type = attr->device_type,
        .device = attr->device,
        .name = tm_x_has(v, TM_X_ALLOCATOR)
                    ? tm_xread_intern_stat(h->r, &h->stats, &v->values[TM_X_ALLOCATOR])
                    : TM_NO_NAME,
        .limit_bytes = limit};
    return own.name != TM_NAME_FAILED && tm_vec_append(known, &own, 1);
}

/* Adds an allocation or release as an instant event like Kineto's. */
static tm_status take_memory(host *h, const taken *t, tm_error *err) {
    tm_xread *r = h->r;
    tm_xvalues *v = t->v;
    int64_t device = device_of_memory(h, v), bytes = tm_x_int(v, TM_X_ALLOCATION, 0);
    owner whose = owner_of_memory(r, device);
    uint32_t row;
    tm_raw_event event = {.name = h->memory_name,
                          .track = t->track,
                          .category = TM_CAT_CPU_INSTANT,
                          .kind = TM_INSTANT,
                          .launch = whose};
    if (whose != OWN)
        return TM_OK;
    TM_TRY(tm_xread_add(r, t->line, t->at, event, &row, err));
    if (row == TM_NO_EVENT)
        return TM_OK;
    bool of_gpu = device >= 0;
    if (!of_gpu && !number_allocator(h, &v->values[TM_X_ALLOCATOR], &device))
        return tm_fail_memory(err);
    int64_t allocated = tm_x_int(v, TM_X_ALLOCATED, -1), stack = tm_x_int(v, TM_X_RESERVED, 0);
    bool sound = allocated >= 0 && stack >= 0 && allocated <= INT64_MAX - stack;
    /* The profile does not say how much memory the pool has obtained. The stat of reserved bytes is
     * the size of the stack of programs. */
    const tm_memory_attr attr = {.event = row,
                                 .address = tm_x_int(v, TM_X_ADDRESS, -1),
                                 .bytes = t->kind == RELEASE && bytes > INT64_MIN ? -bytes : bytes,
                                 .allocated_bytes = sound ? allocated + stack : -1,
                                 .reserved_bytes = sound && stack > 0 ? stack : -1,
                                 .device_type = type_of_memory(h, of_gpu),
                                 .device = (int32_t)device};
    if (!tell_allocator(h, &attr, v))
        return tm_fail_memory(err);
    return tm_vec_append(&r->trace->attrs[TM_ATTR_MEMORY], &attr, 1) ? TM_OK : tm_fail_memory(err);
}

/* Returns the owner of a call: the rank of the device on which the call launched work. */
static owner owner_of_call(host *h, const tm_xlaunch *launch) {
    const tm_xdevice *devices = h->r->devices.data;
    if (h->r->devices.n == 1)
        return OWN;
    if (!launch)
        return THREADS;
    if (h->thread_device == NO_DEVICE)
        h->thread_device = launch->device;
    else if (h->thread_device != launch->device)
        h->thread_device = SEVERAL;
    return devices + launch->device == h->r->device ? OWN : OTHERS;
}

/* Inserts an event for the operator of a call, unless the event of an operator contains the call.
 * With XLA, only the call names the operator. */
static bool add_operator(host *h, uint32_t *row, const tm_xlaunch *launch) {
    tm_vec *events = &h->r->trace->events;
    tm_raw_event *operator_event = (tm_raw_event *)events->data + *row, call = *operator_event;
    if (!launch || launch->operation == TM_NO_NAME || call.begin_ns < h->operator_end_ns)
        return true;
    operator_event->name = launch->operation;
    operator_event->category = TM_CAT_CPU_OP;
    ++*row;
    return events->n < TM_NO_EVENT - 1 && tm_vec_append(events, &call, 1);
}

static tm_status take_call(host *h, const taken *t, tm_raw_event event, tm_error *err) {
    tm_trace *trace = h->r->trace;
    int64_t correlation = tm_x_int(t->v, TM_X_CORRELATION, 0);
    const tm_xlaunch *launch = tm_xlaunches_find(h->launches, correlation);
    uint32_t row;
    event.category = TM_CAT_RUNTIME;
    event.launch = owner_of_call(h, launch);
    if (event.launch == OTHERS)
        return TM_OK;
    TM_TRY(tm_xread_add(h->r, t->line, t->at, event, &row, err));
    if (row == TM_NO_EVENT)
        return TM_OK;
    tm_launch_attr *attr =
        add_operator(h, &row, launch) ? tm_vec_push(&trace->attrs[TM_ATTR_LAUNCH]) : NULL;
    if (!attr)
        return tm_fail_memory(err);
    *attr = (tm_launch_attr){.correlation = correlation, .event = row};
    if (event.launch == OWN)
        tm_xsteps_call(h->steps, (const tm_raw_event *)trace->events.data + row, t->v);
    const tm_xcopy_call copy = {correlation, event.name};
    return !t->info || !t->info->copies || tm_vec_append(h->copies, &copy, 1) ? TM_OK
                                                                              : tm_fail_memory(err);
}

static bool add_shapes(host *h, uint32_t row, tm_xvalues *v) {
    const tm_shapes_attr attr = {
        .event = row, .shapes = tm_xread_intern_stat(h->r, &h->stats, &v->values[TM_X_SHAPE])};
    return attr.shapes != TM_NAME_FAILED &&
           tm_vec_append(&h->r->trace->attrs[TM_ATTR_SHAPES], &attr, 1);
}

static bool is_word(tm_text text, const char *word) {
    size_t i = 0;
    while (i < text.size && word[i] && (text.bytes[i] | 32) == (word[i] | 32))
        i++;
    return i == text.size && !word[i];
}

/* Names a stage of an input pipeline of another library than tf.data, such as Grain. The name has
 * the form that tf.data uses, "Input::Read::Name", so that the pipeline analysis recognises it. */
static uint32_t name_stage(host *h, const taken *t) {
    static const char *const categories[] = {"Enqueue", "Read", "Preprocessing"};
    tm_xread *r = h->r;
    tm_text reported = tm_xstat_text(h->stats.plane, &t->v->values[TM_X_STAGE_CATEGORY]);
    tm_text name = t->info ? tm_names_text(r->names, t->info->name - 1) : (tm_text){"", 0};
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (!is_word(reported, categories[i]))
            continue;
        r->scratch.n = 0;
        if (!tm_vec_append(&r->scratch, "Input::", 7) ||
            !tm_vec_append(&r->scratch, categories[i], strlen(categories[i])) ||
            !tm_vec_append(&r->scratch, "::", 2) ||
            !tm_vec_append(&r->scratch, name.bytes, name.size))
            return TM_NAME_FAILED;
        return tm_names_intern(r->names, r->scratch.data, r->scratch.n);
    }
    return t->info ? t->info->name - 1 : TM_NO_NAME;
}

/* Adds a wait for input around an outermost stage. The wait is kept only if the thread runs the
 * steps: a thread that prefetches delays nothing. */
static bool add_wait(host *h, uint32_t *row) {
    tm_vec *events = &h->r->trace->events;
    tm_raw_event *wait = (tm_raw_event *)events->data + *row, stage = *wait;
    if (stage.begin_ns < h->stage_end_ns)
        return true;
    h->stage_end_ns = stage.begin_ns + stage.duration_ns;
    h->waits = true;
    wait->name = tm_names_intern_string(h->r->names, "Input::Wait");
    wait->launch = WAITS;
    ++*row;
    return wait->name != TM_NAME_FAILED && events->n < TM_NO_EVENT - 1 &&
           tm_vec_append(events, &stage, 1);
}

static tm_status take_span(host *h, const taken *t, tm_raw_event event, tm_error *err) {
    uint32_t row, own_name = event.name;
    if (tm_x_has(t->v, TM_X_STAGE) && tm_x_has(t->v, TM_X_STAGE_CATEGORY))
        event.name = name_stage(h, t);
    h->marks_steps |= tm_x_has(t->v, TM_X_STEP);
    event.category = t->kind == PYTHON     ? TM_CAT_PYTHON
                     : t->kind == OPERATOR ? TM_CAT_CPU_OP
                                           : TM_CAT_USER_ANNOTATION;
    if (t->at->duration_ps == 0) {
        event.kind = TM_INSTANT;
        event.category = TM_CAT_CPU_INSTANT;
    }
    event.launch = t->kind == NEXT_BATCH ? EVERYBODYS : THREADS;
    TM_TRY(tm_xread_add(h->r, t->line, t->at, event, &row, err));
    if (row == TM_NO_EVENT)
        return TM_OK;
    if (event.name != own_name && event.kind == TM_DURATION && !add_wait(h, &row))
        return tm_fail_memory(err);
    const tm_raw_event *added = (const tm_raw_event *)h->r->trace->events.data + row;
    int64_t end = added->begin_ns + added->duration_ns;
    bool ok = true;
    if (event.category == TM_CAT_CPU_OP) {
        h->operator_end_ns = end > h->operator_end_ns ? end : h->operator_end_ns;
        ok = !tm_x_has(t->v, TM_X_SHAPE) || add_shapes(h, row, t->v);
    }
    ok = ok && (t->v->present == 0 || tm_xsteps_take(h->steps, added, t->v));
    /* Steps get a separate track. On the track of their calls, they would count as work. */
    if (ok && event.category == TM_CAT_USER_ANNOTATION && tm_x_has(t->v, TM_X_STEP) &&
        !h->steps->of_device)
        h->r->trace->events.n = row;
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Sets the correlation id of a call that launches a TPU program to the id of the call's flow. If
 * the profile has no flows, the call is recognised by its name. The run id of a call is not
 * sufficient, because calls after the run have the same id. */
static void find_flow(const host *h, const taken *t) {
    static const char launch[] = "DoEnqueueProgram";
    tm_xvalues *v = t->v;
    tm_text name = t->info ? tm_names_text(h->r->names, t->info->name - 1) : (tm_text){"", 0};
    bool tpu = h->r->device && h->r->device->kind == TM_X_TPU;
    if (!tpu || !(tm_x_has(v, TM_X_PRODUCER) || tm_text_is(name, launch)))
        return;
    int64_t flow = tm_tpu_flow_of(v, true, -1);
    if (!tm_xlaunches_find(h->launches, flow))
        return;
    v->values[TM_X_CORRELATION] = (tm_xstat){.i = flow, .type = TM_X_INT64};
    v->present |= UINT64_C(1) << TM_X_CORRELATION;
}

static tm_status take_event(host *h, taken *t, tm_error *err) {
    t->info = info_of(h, t->at->metadata);
    t->kind = t->info ? (host_kind)t->info->kind : ANNOTATION;
    const tm_raw_event event = {
        .name = t->info ? t->info->name - 1 : TM_NO_NAME, .track = t->track, .kind = TM_DURATION};
    bool cpu = h->r->device && h->r->device->kind == TM_X_CPU;
    if (cpu && t->info && tm_xcpu_is_work(tm_names_text(h->r->names, event.name), t->v))
        return TM_OK;
    if ((t->kind == ALLOCATION || t->kind == RELEASE) &&
        (tm_x_has(t->v, TM_X_ALLOCATOR) || tm_x_int(t->v, TM_X_INDEX_ON_HOST, -1) >= 0))
        return take_memory(h, t, err);
    if (!tm_x_has(t->v, TM_X_CORRELATION))
        find_flow(h, t);
    if (tm_x_int(t->v, TM_X_CORRELATION, 0) != 0)
        return take_call(h, t, event, err);
    return take_span(h, t, event, err);
}

/* Removes the attribute rows of removed events, and adjusts the event indices of the other rows. */
static void keep_attrs(tm_trace *trace, tm_attr attr, size_t first, const uint32_t *rows,
                       size_t first_row) {
    tm_vec *vec = &trace->attrs[attr];
    size_t kept = first;
    for (size_t i = first; i < vec->n; i++) {
        char *row = (char *)vec->data + i * vec->size;
        uint32_t *event = tm_attr_event(attr, row);
        uint32_t to = rows[*event - first_row];
        if (to == TM_NO_EVENT)
            continue;
        *event = to;
        if (kept != i)
            memcpy((char *)vec->data + kept * vec->size, row, vec->size);
        kept++;
    }
    vec->n = kept;
}

/* Sizes of a trace before a thread is read. */
typedef struct place {
    size_t events, launches, memory, shapes, tracks;
    int64_t counts[TM_N_COUNTS];
} place;

static place place_of(const tm_trace *trace) {
    place at = {.events = trace->events.n,
                .launches = trace->attrs[TM_ATTR_LAUNCH].n,
                .memory = trace->attrs[TM_ATTR_MEMORY].n,
                .shapes = trace->attrs[TM_ATTR_SHAPES].n,
                .tracks = trace->tracks.n};
    memcpy(at.counts, trace->counts, sizeof at.counts);
    return at;
}

/* Whether an event is kept. If a thread that fetches input belongs to no single device, its waits
 * are kept for all devices, because they all wait for it. */
static bool stays(const host *h, owner whose, bool own_thread) {
    if (whose == WAITS && !h->marks_steps)
        return false;
    bool all_wait = (whose == EVERYBODYS || whose == WAITS) && h->thread_device < 0;
    return own_thread || whose == OWN || all_wait;
}

/* Removes the events of a thread that belong to other ranks, and waits that delay nothing. */
static tm_status drop_events(host *h, const place *begin, bool own_thread, tm_error *err) {
    tm_trace *trace = h->r->trace;
    tm_raw_event *events = trace->events.data;
    size_t n = trace->events.n - begin->events, kept = begin->events;
    uint32_t *rows = malloc((n + 1) * sizeof *rows);
    if (!rows)
        return tm_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        tm_raw_event event = events[begin->events + i];
        bool keep = stays(h, (owner)event.launch, own_thread);
        rows[i] = keep ? (uint32_t)kept : TM_NO_EVENT;
        if (keep)
            events[kept++] = event;
    }
    trace->events.n = kept;
    if (!own_thread)
        memcpy(trace->counts, begin->counts, sizeof begin->counts);
    keep_attrs(trace, TM_ATTR_LAUNCH, begin->launches, rows, begin->events);
    keep_attrs(trace, TM_ATTR_MEMORY, begin->memory, rows, begin->events);
    keep_attrs(trace, TM_ATTR_SHAPES, begin->shapes, rows, begin->events);
    free(rows);
    return TM_OK;
}

/* Whether the thread belongs to this rank. It does if all of its calls are for the rank's device.
 * On the first rank, it also does if its calls are for several devices or for none. */
static bool is_own_thread(const host *h) {
    const tm_xdevice *devices = h->r->devices.data;
    return h->thread_device >= 0 ? devices + h->thread_device == h->r->device : h->r->is_first;
}

static tm_status read_line(host *h, const tm_xline *line, tm_error *err) {
    tm_xread *r = h->r;
    const place begin = place_of(r->trace);
    tm_xevent event;
    tm_xvalues v;
    taken t = {.line = line, .at = &event, .v = &v};
    bool more;
    t.track = line->n_events > 0 ? tm_xread_thread(r, line) : 0;
    h->thread_device = NO_DEVICE;
    h->operator_end_ns = h->stage_end_ns = INT64_MIN;
    h->marks_steps = h->waits = false;
    tm_xsteps_thread(h->steps);
    TM_TRY(tm_space_enter(&r->space, line, err));
    for (;;) {
        TM_TRY(tm_xstats_next(&h->stats, &r->space, &event, &v, &more, err));
        if (!more)
            break;
        TM_TRY(take_event(h, &t, err));
    }
    bool own_thread = is_own_thread(h);
    if (!own_thread || (h->waits && !h->marks_steps))
        TM_TRY(drop_events(h, &begin, own_thread, err));
    if (r->trace->events.n == begin.events) /* a thread without events gets no track */
        r->trace->tracks.n = begin.tracks;
    tm_raw_event *events = r->trace->events.data;
    for (size_t i = begin.events; i < r->trace->events.n; i++)
        events[i].launch = TM_NO_EVENT;
    return TM_OK;
}

static tm_status read_plane(host *h, const tm_xplane *plane, tm_error *err) {
    TM_TRY(tm_xstats_init(&h->stats, plane, err));
    h->infos = calloc(plane->metadata.n + 1, sizeof *h->infos);
    tm_status status = h->infos ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; h->infos && i < plane->lines.n && status == TM_OK; i++)
        status = read_line(h, (const tm_xline *)plane->lines.data + i, err);
    free(h->infos);
    tm_xstats_free(&h->stats);
    return status;
}

tm_status tm_xhost_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps, tm_vec *copies,
                        tm_error *err) {
    const tm_xplane *planes = r->space.planes.data;
    host h = {.r = r,
              .launches = launches,
              .steps = steps,
              .copies = copies,
              .memory_name = tm_names_intern_string(r->names, "[memory]"),
              .allocators = TM_VEC(uint32_t)};
    tm_status status = TM_OK;
    for (size_t i = 0; i < r->space.planes.n && status == TM_OK; i++)
        if (tm_text_begins(planes[i].name, "/host:") &&
            !tm_text_is(planes[i].name, "/host:metadata"))
            status = read_plane(&h, &planes[i], err);
    tm_vec_free(&h.allocators);
    return status;
}
