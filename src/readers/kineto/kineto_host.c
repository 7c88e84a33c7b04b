#include "kineto_host.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/sums.h"
#include "readers/number.h"
#include "timeline/classify.h"
#include "timeline/host_comm.h"
#include "timeline/metadata.h"

/* C++ types, and PyTorch's names for them in the metadata of collectives. */
static const struct {
    const char *written, *name;
} types[] = {
    {"float", "Float"},
    {"double", "Double"},
    {"c10::Half", "Half"},
    {"c10::BFloat16", "BFloat16"},
    {"int", "Int"},
    {"long", "Long"},
    {"long int", "Long"},
    {"unsigned char", "Byte"},
    {"signed char", "Char"},
    {"bool", "Bool"},
    {"short", "Short"},
    {"short int", "Short"},
    {"c10::complex<float>", "ComplexFloat"},
    {"c10::complex<double>", "ComplexDouble"},
};

/* Returns the total number of elements of the tensors of an argument, or -1 if there is no tensor.
 * If @p argument is -1, all arguments count. The dimensions of a tensor are in brackets, and a list
 * of tensors has brackets around these. */
static int64_t count_elements(const tm_json_text *dims, int argument) {
    int64_t sum = -1, product = 1, value = 0;
    int depth = 0, at = 0;
    /* `digits`: the position is inside a number. `any`: the current brackets contain a number. */
    bool digits = false, any = false;
    for (size_t i = 0; i < dims->size; i++) {
        const char c = dims->bytes[i];
        if (c >= '0' && c <= '9') {
            value = value < INT32_MAX ? 10 * value + (c - '0') : value;
            digits = any = true;
            continue;
        }
        if (digits && product <= INT64_MAX / INT32_MAX)
            product *= value;
        digits = false;
        value = 0;
        depth += (c == '[') - (c == ']');
        if (c == ']' && any && (argument < 0 || argument == at))
            sum = tm_sum(sum < 0 ? 0 : sum, product);
        if (c == '[' || c == ']') {
            any = false;
            product = 1;
        }
        at += c == ',' && depth == 1;
    }
    return sum;
}

/* Returns the text with index @p at of a list of texts, without its quotes. */
static tm_json_text text_at(const tm_json_text *list, int at) {
    tm_json_text out = {.bytes = "", .size = 0};
    int quotes = 0;
    for (size_t i = 0; i < list->size && quotes < 2 * at + 2; i++) {
        if (list->bytes[i] == '"') {
            quotes++;
            out.bytes = quotes == 2 * at + 1 ? list->bytes + i + 1 : out.bytes;
        } else if (quotes == 2 * at + 1) {
            out.size++;
        }
    }
    return out;
}

static const char *dtype_of(const tm_kineto_event *event) {
    if (!tm_kineto_has(event, F_INPUT_TYPES))
        return NULL;
    const tm_json_text type = text_at(&event->fields[F_INPUT_TYPES].text, 0);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].written) == type.size &&
            memcmp(types[i].written, type.bytes, type.size) == 0)
            return types[i].name;
    return NULL;
}

/* Returns the index of the input among the arguments of a c10d operator. An output comes first. */
static int input_of(tm_text name) {
    return strstr(name.bytes, "allgather") || strstr(name.bytes, "reduce_scatter") ||
                   strstr(name.bytes, "alltoall") || strstr(name.bytes, "::scatter") ||
                   strstr(name.bytes, "::gather")
               ? 1
               : 0;
}

static int32_t peer_of(const tm_kineto_event *event) {
    enum { PEER = 2 };
    int64_t peer;
    if (!tm_kineto_has(event, F_CONCRETE_INPUTS))
        return -1;
    const tm_json_text text = text_at(&event->fields[F_CONCRETE_INPUTS].text, PEER);
    return text.size > 0 && tm_number_int(text.bytes, text.size, &peer) ? tm_narrow_i32(peer) : -1;
}

bool tm_kineto_emit_host(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row) {
    const tm_raw_event *raw = (const tm_raw_event *)emitter->trace->events.data + row;
    const tm_text name = tm_names_text(emitter->names, raw->name);
    const tm_host_comm is = tm_host_comm_of(name);
    const bool asks = is == TM_HOST_COMM_ASKS && strncmp(name.bytes, "c10d::", 6) == 0;
    if (!asks && !tm_host_comm_is_operation(is))
        return true; /* most events */
    tm_collective_attr attr = tm_collective_bare(row);
    attr.kind = (uint8_t)tm_collective_kind_of_name(name.bytes, name.size);
    if (attr.kind == TM_COLL_OTHER)
        return true;
    attr.name =
        tm_names_intern_string(emitter->names, tm_collective_word((tm_collective_kind)attr.kind));
    attr.dtype = tm_names_intern_string(emitter->names, dtype_of(event));
    if (tm_kineto_has(event, F_INPUT_DIMS) && attr.kind != TM_COLL_BARRIER)
        attr.in_elements =
            count_elements(&event->fields[F_INPUT_DIMS].text, asks ? input_of(name) : -1);
    if (asks && attr.kind == TM_COLL_SEND)
        attr.dst_rank = peer_of(event);
    if (asks && attr.kind == TM_COLL_RECV)
        attr.src_rank = peer_of(event);
    return attr.name != TM_NAME_FAILED && attr.dtype != TM_NAME_FAILED &&
           tm_vec_append(&emitter->trace->attrs[TM_ATTR_COLLECTIVE], &attr, 1);
}

typedef struct group {
    uint32_t name, description, ranks; /* name ids */
    tm_rank_list list;
} group;

typedef struct worker {
    uint32_t track;
    int64_t thread;   /* thread id */
    uint64_t shown;   /* bit h: the worker has an operation whose kind and size have the hash h */
    size_t n;         /* number of operations that the worker ran */
    uint32_t cluster; /* number of the worker's cluster; the workers of a group are a cluster */
} worker;

/* An event that has a row of TM_ATTR_COLLECTIVE. */
typedef struct part {
    int64_t begin_ns;
    uint32_t row; /* index of the row */
} part;

typedef struct finisher {
    tm_trace *trace;
    tm_names *names;
    tm_collective_attr *rows;
    tm_vec asked, operations; /* vector of part, sorted by begin */
    tm_vec groups;            /* vector of group, in the order of creation */
    tm_vec workers;           /* vector of worker, sorted by thread id */
    int64_t world_size;       /* -1 unknown */
    bool no_gpu;              /* the profiler found no GPU */
    bool gpu;                 /* the profiler found a GPU, or the backend is a GPU library */
} finisher;

static const tm_raw_event *event_of(const finisher *f, uint32_t row) {
    return (const tm_raw_event *)f->trace->events.data + f->rows[row].event;
}

TM_ORDER_BY(by_begin, part, begin_ns, row);

static bool list_parts(finisher *f) {
    for (uint32_t i = 0; i < f->trace->attrs[TM_ATTR_COLLECTIVE].n; i++) {
        const tm_raw_event *event = event_of(f, i);
        const tm_host_comm is = tm_host_comm_of(tm_names_text(f->names, event->name));
        const part added = {event->begin_ns, i};
        tm_vec *out = tm_host_comm_is_operation(is) ? &f->operations : &f->asked;
        if (is != TM_HOST_COMM_NONE && !tm_vec_append(out, &added, 1))
            return false;
    }
    tm_sort(f->asked.data, f->asked.n, sizeof(part), by_begin);
    tm_sort(f->operations.data, f->operations.n, sizeof(part), by_begin);
    return true;
}

/* Returns whether an operation may belong to a request, judging by kind and size. PyTorch records
 * Gloo's reduce-scatter as an all-reduce of its input. */
static bool may_be(const tm_collective_attr *operation, const tm_collective_attr *asked) {
    bool kind = operation->kind == asked->kind ||
                (operation->kind == TM_COLL_ALLREDUCE && asked->kind == TM_COLL_REDUCESCATTER);
    return kind && (operation->in_elements < 0 || asked->in_elements < 0 ||
                    operation->in_elements == asked->in_elements);
}

/* Completes an operation that ended after the recording. Such an operation has no shapes. Its size
 * is taken from the request, and its type from another operation of the same kind and size. */
static void complete(const finisher *f, tm_collective_attr *row, const tm_collective_attr *asked) {
    const part *operations = f->operations.data;
    row->in_elements = row->in_elements < 0 ? asked->in_elements : row->in_elements;
    for (size_t i = 0; i < f->operations.n && row->dtype == TM_NO_NAME; i++) {
        const tm_collective_attr *other = &f->rows[operations[i].row];
        if (other->kind == row->kind && other->in_elements == row->in_elements)
            row->dtype = other->dtype;
    }
}

/* Lets a transfer begin with its request. PyTorch posts a send or receive before it starts to
 * record it, so the peer may be done before the recorded start. */
static void begin_with(const finisher *f, const tm_collective_attr *transfer, int64_t asked_ns) {
    tm_raw_event *event = (tm_raw_event *)f->trace->events.data + transfer->event;
    event->duration_ns += event->begin_ns - asked_ns;
    event->begin_ns = asked_ns;
}

/* Links each request to the first later operation that matches. */
static bool link_asked(finisher *f) {
    const part *asked = f->asked.data, *operations = f->operations.data;
    bool *taken = calloc(f->operations.n + 1, sizeof *taken), ok = taken != NULL;
    for (size_t a = 0, first = 0; a < f->asked.n && ok; a++) {
        const tm_collective_attr *from = &f->rows[asked[a].row];
        while (first < f->operations.n &&
               (taken[first] || operations[first].begin_ns < asked[a].begin_ns))
            first++;
        size_t o = first;
        while (o < f->operations.n && (taken[o] || !may_be(&f->rows[operations[o].row], from)))
            o++;
        if (o == f->operations.n)
            continue;
        tm_collective_attr *to = &f->rows[operations[o].row];
        const tm_handover handover = {.call = to->event, .by = from->event};
        taken[o] = true;
        complete(f, to, from);
        to->kind = from->kind;
        to->name = from->name;
        to->src_rank = from->src_rank;
        to->dst_rank = from->dst_rank;
        if (tm_collective_is_one_way(to->kind))
            begin_with(f, to, asked[a].begin_ns);
        ok = tm_vec_append(&f->trace->handovers, &handover, 1) != NULL;
    }
    free(taken);
    return ok;
}

static bool add_group(finisher *f, const cJSON *config) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(config, "pg_name"));
    const char *what = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(config, "pg_desc"));
    char *ranks = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(config, "ranks"));
    group *added = name && ranks ? tm_vec_push(&f->groups) : NULL;
    bool ok = !name || !ranks || added;
    if (added) {
        *added = (group){.name = tm_names_intern_string(f->names, name),
                         .description = tm_names_intern_string(f->names, what),
                         .ranks = tm_names_intern_string(f->names, ranks),
                         .list = {.ranks = TM_VEC(int64_t)}};
        ok = added->name != TM_NAME_FAILED && added->description != TM_NAME_FAILED &&
             added->ranks != TM_NAME_FAILED &&
             tm_rank_list_read(tm_names_text(f->names, added->ranks), &added->list);
        if (ok && added->list.ranks.n < 2) { /* a single rank communicates with no one */
            tm_vec_free(&added->list.ranks);
            f->groups.n--;
        }
    }
    cJSON_free(ranks);
    return ok;
}

/* Reads the metadata. At this stage, it has the form ,"key":value,... */
static bool read_metadata(finisher *f, tm_vec *metadata) {
    bool ok = true;
    if (metadata->n == 0)
        return true;
    if (!tm_vec_append(metadata, "}", 2))
        return false;
    *(char *)metadata->data = '{';
    cJSON *root = cJSON_Parse(metadata->data);
    const cJSON *info = cJSON_GetObjectItemCaseSensitive(root, "distributedInfo"), *each;
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(root, "deviceProperties");
    const char *backend = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(info, "backend"));
    const cJSON *world = cJSON_GetObjectItemCaseSensitive(info, "world_size");
    f->world_size = cJSON_IsNumber(world) ? world->valueint : -1;
    f->no_gpu = cJSON_IsArray(devices) && cJSON_GetArraySize(devices) == 0;
    f->gpu = cJSON_GetArraySize(devices) > 0 || (backend && strstr(backend, "ccl"));
    cJSON_ArrayForEach(each, cJSON_GetObjectItemCaseSensitive(info, "pg_config")) {
        ok = ok && add_group(f, each);
    }
    cJSON_Delete(root);
    *(char *)metadata->data = ',';
    metadata->n -= 2;
    return ok;
}

TM_ORDER_BY(by_thread, worker, thread, track);

/* Lists the threads that run collectives. Transfers run on the requesting thread. */
static bool list_workers(finisher *f) {
    const part *operations = f->operations.data;
    const tm_track *tracks = f->trace->tracks.data;
    for (size_t i = 0; i < f->operations.n; i++) {
        const tm_collective_attr *row = &f->rows[operations[i].row];
        const tm_raw_event *event = event_of(f, operations[i].row);
        worker *workers = f->workers.data;
        size_t w = 0;
        if (tm_collective_is_one_way(row->kind))
            continue;
        while (w < f->workers.n && workers[w].track != event->track)
            w++;
        if (w == f->workers.n) {
            const tm_text id = tm_names_text(f->names, tracks[event->track].tid);
            worker added = {.track = event->track};
            (void)tm_number_int(id.bytes, id.size, &added.thread);
            if (!tm_vec_append(&f->workers, &added, 1))
                return false;
            workers = f->workers.data;
        }
        const uint64_t mixed = (uint64_t)(row->in_elements + 1) * 16 + row->kind;
        workers[w].n++;
        workers[w].shown |= UINT64_C(1) << (mixed * UINT64_C(0x9e3779b97f4a7c15) >> 58);
    }
    tm_sort(f->workers.data, f->workers.n, sizeof(worker), by_thread);
    return true;
}

/* Returns whether a thread belongs to the same group as the previous thread. A group has at most
 * two threads, which take turns. So if the previous thread ran many operations, this thread must
 * belong to its group. The two threads also belong to one group if they ran operations of the same
 * kind and size. (They never do if the group alternates between two sizes, because each thread then
 * has one size.) */
static bool is_second(const worker *w) {
    enum { ALONE_MOST = 4 };
    return w[-1].n > ALONE_MOST || (w->shown & w[-1].shown) != 0;
}

/* Groups the workers into clusters, and sets the cluster of each worker. A cluster has the threads
 * that belong to one process group. Returns the number of clusters. */
static size_t find_clusters(finisher *f) {
    worker *workers = f->workers.data;
    size_t n = 0;
    for (size_t w = 0; w < f->workers.n; w++) {
        bool alone = w > 0 && (w < 2 || workers[w - 2].cluster != workers[w - 1].cluster);
        n += !alone || !is_second(&workers[w]);
        workers[w].cluster = (uint32_t)n - 1;
    }
    return n;
}

/* Returns the group to which a cluster of workers belongs, or NULL if it is unknown. If there are
 * as many groups as clusters, both are in the same order. If there is one more group, the first
 * group must have all ranks: it was then only used to create the other groups. */
static const group *group_of(const finisher *f, size_t n_clusters, uint32_t cluster) {
    const group *groups = f->groups.data;
    const size_t unused = f->groups.n - n_clusters;
    if (f->groups.n == 1)
        return groups;
    if (f->groups.n < n_clusters || unused > 1)
        return NULL;
    const bool is_known = unused == 0 || (int64_t)groups->list.ranks.n == f->world_size;
    return is_known ? groups + unused + cluster : NULL;
}

static const group *group_of_track(const finisher *f, size_t n_clusters, uint32_t track) {
    const worker *workers = f->workers.data;
    for (size_t w = 0; w < f->workers.n; w++)
        if (workers[w].track == track)
            return group_of(f, n_clusters, workers[w].cluster);
    return f->groups.n == 1 ? f->groups.data : NULL;
}

static int32_t member(const group *g, int32_t place) {
    return g && place >= 0 && (size_t)place < g->list.ranks.n
               ? tm_narrow_i32(((const int64_t *)g->list.ranks.data)[place])
               : -1;
}

/* Sets the number of output elements. In an all-gather, it is the number of input elements times
 * the number of ranks. In a reduce-scatter, it is the number of input elements divided by the
 * number of ranks. Otherwise, both numbers are equal. */
static void set_elements(tm_collective_attr *row, int64_t n_ranks) {
    row->out_elements = row->in_elements;
    if (row->in_elements <= INT64_MAX / TM_GROUP_RANKS_MAX && row->kind == TM_COLL_ALLGATHER &&
        row->in_elements >= 0)
        row->out_elements = row->in_elements * n_ranks;
    if (row->in_elements >= 0 && row->kind == TM_COLL_REDUCESCATTER)
        row->out_elements = row->in_elements / n_ranks;
}

/* Makes a name such as "threads 2, 3" for a group that is not known. */
static uint32_t threads_of_track(const finisher *f, uint32_t track) {
    enum { ROOM = 24 * 2 };
    char text[ROOM] = "";
    const worker *workers = f->workers.data, *own = workers;
    size_t at = 0;
    while (own < workers + f->workers.n && own->track != track)
        own++;
    if (own == workers + f->workers.n)
        return TM_NO_NAME;
    for (size_t w = 0; w < f->workers.n && at < ROOM; w++)
        if (workers[w].cluster == own->cluster)
            at += (size_t)snprintf(text + at, ROOM - at, "%s%" PRId64, at == 0 ? "threads " : ", ",
                                   workers[w].thread);
    return tm_names_intern_string(f->names, text);
}

/* Returns a name for the unknown group of a transfer. The name lists the ranks that have the place
 * of the peer in any of the groups. Returns TM_NO_NAME if there are no such ranks, or too many. */
static uint32_t peers_of_place(const finisher *f, int32_t place) {
    int64_t peers[TM_PEERS_MAX];
    size_t n = 0;
    char text[TM_PEERS_TEXT_MAX];
    const group *groups = f->groups.data;
    for (size_t g = 0; g < f->groups.n; g++) {
        const int64_t peer = member(&groups[g], place);
        size_t k = 0;
        while (k < n && peers[k] != peer)
            k++;
        if (peer < 0 || k < n)
            continue;
        if (n == TM_PEERS_MAX)
            return TM_NO_NAME;
        peers[n++] = peer;
    }
    tm_peers_text(peers, n, text);
    return n > 0 ? tm_names_intern_string(f->names, text) : TM_NO_NAME;
}

/* Sets the peer and the group of an operation, or a name that describes its unknown group. */
static void set_group(const finisher *f, const group *g, tm_collective_attr *row, uint32_t track) {
    const int32_t place = row->kind == TM_COLL_SEND ? row->dst_rank : row->src_rank;
    row->src_rank = member(g, row->src_rank);
    row->dst_rank = member(g, row->dst_rank);
    row->group = g                                     ? g->name
                 : tm_collective_is_one_way(row->kind) ? peers_of_place(f, place)
                                                       : threads_of_track(f, track);
}

static bool set_groups(finisher *f) {
    const part *operations = f->operations.data;
    const size_t n_clusters = find_clusters(f);
    for (size_t i = 0; i < f->operations.n; i++) {
        tm_collective_attr *row = &f->rows[operations[i].row];
        const group *g = group_of_track(f, n_clusters, event_of(f, operations[i].row)->track);
        set_group(f, g, row, event_of(f, operations[i].row)->track);
        if (row->group == TM_NAME_FAILED)
            return false;
        if (row->out_elements < 0 && (g || tm_collective_is_one_way(row->kind)))
            set_elements(row, g ? (int64_t)g->list.ranks.n : 2);
        if (!g)
            continue;
        row->group_description = g->description;
        row->group_ranks = g->ranks;
        row->group_size = (int32_t)g->list.ranks.n;
    }
    return true;
}

/* Removes the rows of requests and, unless @p any is set, of operations on the host. */
static void keep_operations(finisher *f, bool any) {
    tm_vec *rows = &f->trace->attrs[TM_ATTR_COLLECTIVE];
    size_t kept = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const tm_host_comm is = tm_host_comm_of(tm_names_text(f->names, event_of(f, i)->name));
        if (is == TM_HOST_COMM_NONE || (any && tm_host_comm_is_operation(is)))
            f->rows[kept++] = f->rows[i];
    }
    rows->n = kept;
}

static bool works_on_gpu(const tm_trace *trace) {
    const tm_track *tracks = trace->tracks.data;
    for (size_t t = 0; t < trace->tracks.n; t++)
        if (tracks[t].kind == TM_TRACK_GPU)
            return true;
    return trace->attrs[TM_ATTR_LAUNCH].n > 0;
}

/* Returns whether PyTorch's first profiler wrote a trace without GPU work. With GPU work, the trace
 * has a second process for the GPU time of operators. */
static bool is_legacy(const finisher *f) {
    const tm_track *tracks = f->trace->tracks.data;
    size_t t = 0;
    while (t < f->trace->tracks.n &&
           strcmp(tm_names_text(f->names, tracks[t].pid).bytes, "CPU functions") == 0)
        t++;
    return t > 0 && t == f->trace->tracks.n;
}

static bool has_operators(const tm_trace *trace) {
    const tm_raw_event *events = trace->events.data;
    size_t i = 0;
    while (i < trace->events.n && events[i].category != TM_CAT_CPU_OP)
        i++;
    return i < trace->events.n;
}

static bool finish_cpu(finisher *f, tm_part *whole) {
    static const char kind[] = "," TM_DEVICE_KIND TM_CPU_KIND "\"", clock[] = "," TM_OWN_CLOCK;
    tm_vec *metadata = &whole->metadata;
    const bool legacy = metadata->n == 0 && is_legacy(f);
    bool ok = read_metadata(f, metadata);
    const bool communicates = f->operations.n > 0;
    const bool none = legacy || f->no_gpu;
    if (!ok || f->gpu || !(communicates || (none && has_operators(f->trace)))) {
        keep_operations(f, false);
        return ok;
    }
    ok = link_asked(f) && list_workers(f) && set_groups(f);
    keep_operations(f, true);
    return ok && tm_vec_append(metadata, kind, strlen(kind)) &&
           (!legacy || tm_vec_append(metadata, clock, strlen(clock)));
}

tm_status tm_kineto_finish_host(tm_part *whole, tm_names *names, tm_error *err) {
    finisher f = {.trace = whole->trace,
                  .names = names,
                  .rows = whole->trace->attrs[TM_ATTR_COLLECTIVE].data,
                  .asked = TM_VEC(part),
                  .operations = TM_VEC(part),
                  .groups = TM_VEC(group),
                  .workers = TM_VEC(worker)};
    bool ok = list_parts(&f);
    if (ok && works_on_gpu(whole->trace))
        keep_operations(&f, false);
    else if (ok)
        ok = finish_cpu(&f, whole);
    group *groups = f.groups.data;
    for (size_t i = 0; i < f.groups.n; i++)
        tm_vec_free(&groups[i].list.ranks);
    TM_VECS_FREE(&f.asked, &f.operations, &f.groups, &f.workers);
    return ok ? TM_OK : tm_fail_memory(err);
}
