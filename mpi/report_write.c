#include "report_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/exchange/agree.h"
#include "mpi/exchange/backoff.h"
#include "mpi/exchange/bytes.h"
#include "report/page_timeline.h"
#include "timeline/packed_events.h"

/* What process 0 requests from the other processes. After NO_MORE, they stop waiting for requests.
 */
typedef enum order { NO_MORE, SCAN, COLLECT } order;

enum { TAG = 1 };

typedef struct job {
    MPI_Comm comm;
    int self, n_processes;
    const tm_mpi_report *report;
    bool alone; /* the other processes no longer take part, because all processes have agreed on a
                   failure */
} job;

/* Arrays are serialised as their size, then their bytes. */

static bool put_array(tm_vec *to, const void *from, size_t size) {
    return tm_vec_append(to, &size, sizeof size) && tm_vec_append(to, from, size);
}

static bool put_vec(tm_vec *to, const tm_vec *from) {
    return put_array(to, from->data, from->n * from->size);
}

typedef struct cursor {
    const char *at;
    size_t left;
} cursor;

/* Appends the elements of the next serialised array to @p out. */
static bool take_vec(cursor *from, tm_vec *out) {
    size_t size;
    assert(out->size > 0);
    if (from->left < sizeof size)
        return false;
    memcpy(&size, from->at, sizeof size);
    from->at += sizeof size;
    from->left -= sizeof size;
    if (size > from->left || !tm_vec_append(out, from->at, size / out->size))
        return false;
    from->at += size;
    from->left -= size;
    return true;
}

static bool take_array(cursor *from, void *out, size_t size) {
    tm_vec bytes = {.size = 1};
    bool taken = take_vec(from, &bytes) && bytes.n == size;
    if (taken)
        memcpy(out, bytes.data, size);
    tm_vec_free(&bytes);
    return taken;
}

/* The numbers of a serialised frame. Its list of ranks follows them. */
typedef struct frame_numbers {
    tm_buckets lanes, strip;
    size_t steps, is_part, n_ranks;
} frame_numbers;

static bool put_frame(tm_vec *to, const tm_page_frame *frame) {
    const tm_vec none = TM_VEC(int64_t);
    const frame_numbers numbers = {frame->lanes, frame->strip, frame->steps, frame->ranks != NULL,
                                   frame->ranks ? frame->ranks->n : 0};
    return put_array(to, &numbers, sizeof numbers) &&
           put_vec(to, frame->ranks ? &frame->ranks->kept : &none) &&
           put_array(to, frame->from_0, frame->n_from_0 * sizeof *frame->from_0);
}

/* State of a process other than 0. */
typedef struct helper {
    tm_page_frame frame;
    tm_page_kept ranks;
    tm_vec from_0; /* vector of int64_t */
    tm_scan scan;
} helper;

static bool take_frame(cursor *from, const tm_names *names, helper *h) {
    frame_numbers numbers;
    if (!take_array(from, &numbers, sizeof numbers) || !take_vec(from, &h->ranks.kept) ||
        !take_vec(from, &h->from_0))
        return false;
    h->ranks.n = numbers.n_ranks;
    h->frame = (tm_page_frame){.names = names,
                               .ranks = numbers.is_part ? &h->ranks : NULL,
                               .from_0 = h->from_0.data,
                               .n_from_0 = h->from_0.n,
                               .lanes = numbers.lanes,
                               .strip = numbers.strip,
                               .steps = numbers.steps != 0};
    return true;
}

static size_t strip_bytes(const tm_page_frame *frame) {
    return TM_N_LANE_KINDS * frame->strip.n * sizeof(int64_t);
}

static bool put_scan(tm_vec *to, const tm_page_frame *frame, const tm_scan *scan) {
    return put_vec(to, &scan->plan.cards) && put_vec(to, &scan->plan.parts) &&
           put_vec(to, &scan->plan.spans) && put_vec(to, &scan->operations.all) &&
           put_vec(to, &scan->coverage.bytes) &&
           put_array(to, scan->strip_sums, strip_bytes(frame));
}

static bool take_scan(cursor *from, const tm_page_frame *frame, tm_scan *out) {
    return take_vec(from, &out->plan.cards) && take_vec(from, &out->plan.parts) &&
           take_vec(from, &out->plan.spans) && take_vec(from, &out->operations.all) &&
           take_vec(from, &out->coverage.bytes) &&
           take_array(from, out->strip_sums, strip_bytes(frame));
}

static bool put_choice(tm_vec *to, const tm_scan *chosen) {
    const tm_operation *all = chosen->operations.all.data;
    tm_vec names = TM_VEC(tm_operation_name);
    size_t whole = chosen->plan.all;
    bool put = true;
    for (size_t i = 0; i < chosen->operations.n_shown && put; i++) {
        const tm_operation *o = &all[chosen->operations.shown[i]];
        const tm_operation_name name = {o->first_rank, o->first_event};
        put = tm_vec_append(&names, &name, 1);
    }
    put = put && put_array(to, &whole, sizeof whole) && put_vec(to, &chosen->plan.cards) &&
          put_vec(to, &chosen->plan.parts) && put_vec(to, &names);
    tm_vec_free(&names);
    return put;
}

static bool take_choice(cursor *from, tm_scan *out) {
    size_t whole;
    tm_vec names = TM_VEC(tm_operation_name);
    /* the message replaces the cards and parts of this process by those of all processes */
    out->plan.cards.n = out->plan.parts.n = 0;
    bool taken = take_array(from, &whole, sizeof whole) && take_vec(from, &out->plan.cards) &&
                 take_vec(from, &out->plan.parts) && take_vec(from, &names);
    if (taken) {
        out->plan.all = whole != 0;
        tm_operations_set_numbers(&out->operations, names.data, names.n);
    }
    tm_vec_free(&names);
    return taken;
}

static bool put_encoding(tm_vec *to, const tm_event_encoding *encoding) {
    return put_vec(to, &encoding->bytes.bytes) && put_vec(to, &encoding->gaps) &&
           put_vec(to, &encoding->names) && put_vec(to, &encoding->ends);
}

static bool take_encoding(cursor *from, tm_event_encoding *encoding) {
    return take_vec(from, &encoding->bytes.bytes) && take_vec(from, &encoding->gaps) &&
           take_vec(from, &encoding->names) && take_vec(from, &encoding->ends);
}

static bool put_encodings(tm_vec *to, const tm_scan *scan, const tm_page_encoding *encoding) {
    return put_vec(to, &scan->operations.members) && put_encoding(to, &encoding->events) &&
           put_encoding(to, &encoding->details);
}

static bool take_encodings(cursor *from, tm_scan *scan, tm_page_encoding *encoding) {
    return take_vec(from, &scan->operations.members) && take_encoding(from, &encoding->events) &&
           take_encoding(from, &encoding->details);
}

static tm_status scan_own(const job *j, const tm_page_frame *frame, tm_scan *out, tm_error *err) {
    for (size_t i = 0; i < j->report->n_timelines; i++) {
        tm_timeline *timeline = &j->report->timelines[i];
        TM_TRY(tm_timeline_open(timeline, err));
        TM_TRY(tm_scan_add(out, frame, timeline, err));
        tm_timeline_close(timeline);
    }
    return TM_OK;
}

static tm_status collect_own(const job *j, const tm_page_frame *frame, tm_scan *chosen,
                             tm_page_encoding *out, tm_error *err) {
    const tm_card *cards = chosen->plan.cards.data;
    size_t at = 0;
    for (size_t i = 0; i < j->report->n_timelines; i++) {
        tm_timeline *timeline = &j->report->timelines[i];
        while (cards[at].rank != timeline->rank)
            at++;
        TM_TRY(tm_timeline_open(timeline, err));
        TM_TRY(tm_scan_collect(chosen, frame, timeline, at, out, err));
        tm_timeline_close(timeline);
    }
    return TM_OK;
}

/* Broadcasts a request of process 0. Other processes wait for it without occupying a core. */
static tm_status tell(const job *j, void **bytes, size_t *size, tm_error *err) {
    MPI_Request request;
    MPI_Ibarrier(j->comm, &request);
    (void)tm_mpi_await(&request, MPI_STATUS_IGNORE);
    return tm_mpi_broadcast_bytes(j->comm, bytes, size, err);
}

/* Agrees on a status like tm_mpi_agree. After a failure, other processes no longer take part. */
static tm_status agree(job *j, tm_status status, tm_error *err) {
    status = tm_mpi_agree(j->comm, status, err);
    j->alone = j->alone || status != TM_OK;
    return status;
}

/* Sends a request to other processes. If the request could not be built, sends nothing; they get
 * NO_MORE later. */
static tm_status give_order(job *j, tm_vec *message, bool whole, tm_error *err) {
    tm_status status = whole ? TM_OK : tm_fail_memory(err);
    if (whole) {
        status = tell(j, &message->data, &message->n, err);
        j->alone = status != TM_OK;
    }
    tm_vec_free(message);
    return status;
}

static bool put_order(tm_vec *to, order what) {
    const char byte = (char)what;
    return tm_vec_append(to, &byte, 1);
}

typedef struct answer {
    void *bytes; /* owned */
    cursor from;
} answer;

static tm_status hear(const job *j, int process, answer *out, tm_error *err) {
    size_t size = 0;
    TM_TRY(tm_mpi_receive_bytes(j->comm, process, TAG, &out->bytes, &size, err));
    out->from = (cursor){out->bytes, size};
    return TM_OK;
}

/* Receives the answers of all processes. Continues after a failure, because the other processes
 * wait until their answers are received. */
static tm_status hear_scans(const job *j, const tm_page_frame *frame, tm_scan *parts,
                            tm_error *err) {
    tm_status status = TM_OK;
    for (int p = 1; p < j->n_processes; p++) {
        answer got = {0};
        tm_status heard = hear(j, p, &got, err);
        if (heard == TM_OK && !take_scan(&got.from, frame, &parts[p]))
            heard = tm_fail_memory(err);
        free(got.bytes);
        status = status == TM_OK ? heard : status;
    }
    return status;
}

static tm_status scan_all(job *j, const tm_page_frame *frame, tm_scan *parts, tm_scan *out,
                          tm_error *err) {
    tm_status status = parts ? TM_OK : tm_fail_memory(err);
    for (int p = 0; p < j->n_processes && status == TM_OK; p++)
        status = tm_scan_begin(frame, &parts[p], err);
    if (status == TM_OK)
        status = scan_own(j, frame, &parts[0], err);
    TM_TRY(agree(j, status, err));
    TM_TRY(hear_scans(j, frame, parts, err));
    return tm_scan_join(frame, parts, (size_t)j->n_processes, out, err);
}

static tm_status scan(void *context, const tm_page_frame *frame, tm_scan *out, tm_error *err) {
    job *j = context;
    if (j->n_processes == 1)
        return scan_own(j, frame, out, err);
    tm_vec message = {.size = 1};
    bool whole = put_order(&message, SCAN) && put_frame(&message, frame);
    TM_TRY(give_order(j, &message, whole, err));
    tm_scan *parts = calloc((size_t)j->n_processes, sizeof *parts);
    tm_status status = scan_all(j, frame, parts, out, err);
    for (int p = 0; parts && p < j->n_processes; p++)
        tm_scan_free(&parts[p]);
    free(parts);
    return status;
}

static tm_status hear_encodings(const job *j, tm_scan *chosen, tm_page_encoding *encodings,
                                tm_error *err) {
    tm_status status = TM_OK;
    for (int p = 1; p < j->n_processes; p++) {
        answer got = {0};
        tm_status heard = hear(j, p, &got, err);
        if (heard == TM_OK && !take_encodings(&got.from, chosen, &encodings[p]))
            heard = tm_fail_memory(err);
        free(got.bytes);
        status = status == TM_OK ? heard : status;
    }
    return status;
}

static tm_status collect(void *context, const tm_page_frame *frame, tm_scan *chosen,
                         tm_vec *encodings, tm_error *err) {
    job *j = context;
    if (j->n_processes > 1) {
        tm_vec message = {.size = 1};
        bool whole = put_order(&message, COLLECT) && put_choice(&message, chosen);
        TM_TRY(give_order(j, &message, whole, err));
    }
    tm_page_encoding *all = tm_vec_append(encodings, NULL, (size_t)j->n_processes);
    tm_status status = all ? TM_OK : tm_fail_memory(err);
    for (int p = 0; all && p < j->n_processes; p++)
        tm_page_encoding_init(&all[p]);
    if (status == TM_OK)
        status = collect_own(j, frame, chosen, &all[0], err);
    if (j->n_processes == 1)
        return status;
    TM_TRY(agree(j, status, err));
    return hear_encodings(j, chosen, all, err);
}

static tm_status write_page(job *j, tm_error *err) {
    tm_store *store;
    TM_TRY(tm_store_open(j->report->store, &store, err));
    const tm_page_source source = {j, scan, collect};
    const tm_page_origin origin = {.store = store,
                                   .source = &source,
                                   .at_hand = j->report->tables,
                                   .version = j->report->version};
    tm_status status = tm_report_write_from(&origin, j->report->path, err);
    tm_store_close(store);
    return status;
}

static tm_status lead(job *j, tm_error *err) {
    tm_status status = write_page(j, err);
    if (j->alone || j->n_processes == 1)
        return status;
    char no_more = NO_MORE;
    void *bytes = &no_more;
    size_t size = 1;
    tm_status reported = tell(j, &bytes, &size, status == TM_OK ? err : NULL);
    return status == TM_OK ? reported : status;
}

/* Performs a request. If no process failed, sends the answer to process 0. */
static tm_status help(job *j, helper *h, cursor *asked, order what, tm_error *err) {
    tm_vec message = {.size = 1};
    tm_page_encoding encoding;
    tm_page_encoding_init(&encoding);
    tm_status status = TM_OK;
    bool done =
        what == SCAN ? take_frame(asked, j->report->names, h) : take_choice(asked, &h->scan);
    if (done && what == SCAN) {
        status = tm_scan_begin(&h->frame, &h->scan, err);
        status = status == TM_OK ? scan_own(j, &h->frame, &h->scan, err) : status;
        done = status != TM_OK || put_scan(&message, &h->frame, &h->scan);
    } else if (done) {
        status = collect_own(j, &h->frame, &h->scan, &encoding, err);
        done = status != TM_OK || put_encodings(&message, &h->scan, &encoding);
    }
    status = agree(j, done ? status : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_send_bytes(j->comm, 0, TAG, message.data, message.n, err);
    tm_page_encoding_free(&encoding);
    tm_vec_free(&message);
    return status;
}

static tm_status follow(job *j, tm_error *err) {
    helper h = {.ranks = {.kept = TM_VEC(int64_t)}, .from_0 = TM_VEC(int64_t)};
    tm_status status = TM_OK;
    for (order what = SCAN; what != NO_MORE && status == TM_OK;) {
        void *bytes = NULL;
        size_t size = 0;
        status = tell(j, &bytes, &size, err);
        if (status != TM_OK)
            break;
        what = (order)((const char *)bytes)[0];
        cursor asked = {(const char *)bytes + 1, size - 1};
        if (what != NO_MORE)
            status = help(j, &h, &asked, what, err);
        free(bytes);
    }
    tm_scan_free(&h.scan);
    tm_vec_free(&h.ranks.kept);
    tm_vec_free(&h.from_0);
    return status;
}

tm_status tm_mpi_report_write(MPI_Comm comm, const tm_mpi_report *report, tm_error *err) {
    job j = {.comm = comm, .report = report};
    MPI_Comm_rank(comm, &j.self);
    MPI_Comm_size(comm, &j.n_processes);
    return tm_mpi_agree(comm, j.self == 0 ? lead(&j, err) : follow(&j, err), err);
}
