/* The original traces in one tar file that Perfetto opens as one trace. A manifest states the clock
 * offset of each trace (perfetto.dev, reference, trace manifest format). Perfetto accepts clock
 * offsets only for uncompressed members, so compressed traces are stored decoded. */
#include "export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"
#include "tmerge/source.h"

enum { TAR_BLOCK = 512, PIECE_BYTES = 1 << 20, NAME_MAX_CHARS = 100 };

/* Maximum size of a member [B]: it has to fit into eleven octal digits, because not all tar readers
 * accept other forms. */
#define MEMBER_MAX ((INT64_C(1) << 33) - 1)

#define MANIFEST_NAME "perfetto_manifest.json"

typedef struct tar_header {
    char name[NAME_MAX_CHARS], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type;
    char link[100], magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155];
    char unused[12];
} tar_header;

_Static_assert(sizeof(tar_header) == TAR_BLOCK, "a header is a block");

enum { MAGIC_AT = 257 };
#define MAGIC "ustar"
#define VERSION "00"
#define USER "tmerge"

typedef struct member {
    int64_t rank;
    size_t span;
    int64_t since_ns; /* the member's time 0, on the job's clock [ns] */
} member;

typedef struct archive {
    tm_vec members;  /* vector of member */
    char *piece;     /* owned; [PIECE_BYTES + 1] */
    int64_t base_ns; /* base time of the last added trace that has a base time */
} archive;

static tm_status begin(tm_export *x, tm_error *err) {
    archive *a = x->state;
    *a = (archive){.members = TM_VEC(member), .piece = malloc(PIECE_BYTES + 1)};
    return a->piece ? TM_OK : tm_fail_memory(err);
}

static tar_header header_of(const char *name, int64_t size) {
    tar_header header = {.mode = "0000644",
                         .uid = "0000000",
                         .gid = "0000000",
                         .mtime = "00000000000",
                         .sum = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '}, /* the sum counts these
                                                                             blanks */
                         .type = '0',
                         .magic = MAGIC,
                         .version = {'0', '0'},
                         .user = USER};
    unsigned char bytes[TAR_BLOCK];
    unsigned sum = 0;
    snprintf(header.name, sizeof header.name, "%s", name);
    snprintf(header.size, sizeof header.size, "%011" PRIo64, (uint64_t)size);
    memcpy(bytes, &header, sizeof header);
    for (size_t i = 0; i < sizeof bytes; i++)
        sum += bytes[i];
    snprintf(header.sum, sizeof header.sum, "%06o", sum);
    header.sum[7] = ' ';
    return header;
}

static void pad(tm_export *x, int64_t size) {
    static const char zeros[TAR_BLOCK];
    tm_out_bytes(&x->out, zeros, (size_t)(-size & (TAR_BLOCK - 1)));
}

/* The state of the search for a trace's base time. The trace is searched while it is copied. Newer
 * profilers write times relative to a base time, under a key. The text of the key in quotes cannot
 * occur inside a string, because quotes inside strings are escaped. */
typedef struct base_search {
    size_t matched;  /* number of bytes of the key that have matched */
    bool colon;      /* the colon after the key was found */
    uint64_t number; /* value of the digits so far */
    int n_digits;    /* number of digits so far */
    bool found;
} base_search;

static void search_number(base_search *search, char c) {
    bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (space && search->n_digits == 0)
        return;
    if (!search->colon && c == ':') {
        search->colon = true;
    } else if (search->colon && c >= '0' && c <= '9' && search->n_digits < 19) {
        search->number = search->number * 10 + (unsigned)(c - '0');
        search->n_digits++;
    } else {
        search->found = search->n_digits > 0;
        search->matched = 0;
    }
}

static void search_piece(base_search *search, const char *bytes, size_t size) {
    static const char key[] = "\"baseTimeNanoseconds\"";
    for (size_t i = 0; i < size && !search->found; i++) {
        if (search->matched == sizeof key - 1) {
            search_number(search, bytes[i]);
            continue;
        }
        if (search->matched == 0) { /* memchr skips most bytes */
            const char *quote = memchr(bytes + i, '"', size - i);
            if (!quote)
                return;
            i = (size_t)(quote - bytes);
        }
        if (bytes[i] == key[search->matched])
            search->matched++;
        else
            search->matched = bytes[i] == '"';
        search->colon = false;
        search->number = 0;
        search->n_digits = 0;
    }
}

/* Builds a member's name, which must be unique: traces in different folders may have the same file
 * name. */
static void member_name(const member *m, char out[NAME_MAX_CHARS]) {
    if (m->span == 0)
        snprintf(out, NAME_MAX_CHARS, "rank_%05" PRId64 ".json", m->rank);
    else
        snprintf(out, NAME_MAX_CHARS, "rank_%05" PRId64 "_%zu.json", m->rank, m->span);
}

/* Returns whether a trace starts like JSON. Only JSON is archived: Perfetto cannot open databases,
 * and a report of Nsight Systems contains data that should not be passed on, such as all
 * environment variables of the process. */
static bool is_json(const char *piece, size_t n) {
    size_t at = n >= 3 && memcmp(piece, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < n && strchr(" \t\r\n", piece[at]) && piece[at] != '\0')
        at++;
    return at < n && (piece[at] == '{' || piece[at] == '[');
}

/* Copies a trace. Writes its header again at the end, when the size is known. */
static tm_status copy_member(tm_export *x, tm_source *source, const char *name, base_search *search,
                             tm_error *err) {
    archive *a = x->state;
    tar_header header = header_of(name, 0);
    int64_t at = x->written, size = 0;
    tm_out_bytes(&x->out, &header, sizeof header);
    for (size_t n = 1; n > 0; size += (int64_t)n) {
        TM_TRY(tm_source_read(source, a->piece, PIECE_BYTES, &n, err));
        if (size == 0 && !is_json(a->piece, n))
            return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                           "Perfetto cannot open this trace as it is: use --format perfetto");
        search_piece(search, a->piece, n);
        tm_out_bytes(&x->out, a->piece, n);
        TM_TRY(tm_export_flush(x, err));
    }
    if (size > MEMBER_MAX)
        return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                       "is over 8 GiB, the limit of an archive's members: use --format perfetto");
    header = header_of(name, size);
    TM_TRY(tm_export_patch(x, at, &header, sizeof header, err));
    pad(x, size);
    return tm_export_flush(x, err);
}

/* Returns the clock offset at the middle of the trace's spans: a manifest has one number, and
 * cannot express drift. */
static int64_t clock_offset(const tm_timeline *timeline, const tm_span *span) {
    const tm_span *last = span, *end = timeline->spans + timeline->n_spans;
    while (last + 1 < end && last[1].source == span->source)
        last++;
    int64_t middle = span->begin_ns + (last->end_ns - span->begin_ns) / 2;
    return tm_rank_clock_true(&timeline->clock, middle) - middle;
}

/* Adds a span's trace. Reads the base time again, because the file may have changed since it was
 * merged. */
static tm_status put_span(tm_export *x, const tm_timeline *timeline, size_t i, tm_error *err) {
    archive *a = x->state;
    const tm_span *span = &timeline->spans[i];
    base_search search = {0};
    tm_source *source;
    char name[NAME_MAX_CHARS];
    member m = {.rank = timeline->rank, .span = i};
    member_name(&m, name);
    TM_TRY(tm_source_open(tm_names_text(x->job->names, span->source).bytes, &source, err));
    tm_status status = copy_member(x, source, name, &search, err);
    tm_source_close(source);
    if (status != TM_OK)
        return status;
    if (search.found)
        a->base_ns = (int64_t)search.number;
    /* the file was cut off before its base time, so the reader used the base time of another trace
     */
    bool adopted = span->counts[TM_COUNT_ADOPTED_BASE] > 0;
    m.since_ns = (search.found || adopted ? a->base_ns : 0) + clock_offset(timeline, span);
    return tm_vec_append(&a->members, &m, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status rank(tm_export *x, const tm_timeline *timeline, tm_error *err) {
    for (size_t i = 0; i < timeline->n_spans; i++)
        if (i == 0 || timeline->spans[i].source != timeline->spans[i - 1].source)
            TM_TRY(put_span(x, timeline, i, err));
    size_t at = tm_export_rank_index(x->job, timeline->rank);
    x->n_events += x->first_row[at + 1] - x->first_row[at];
    return TM_OK;
}

/* Returns the member whose clock is the reference for the others: the member whose time 0 is
 * earliest, because Perfetto drops events with negative times. */
static size_t reference_of(const archive *a) {
    const member *members = a->members.data;
    size_t first = 0;
    for (size_t i = 1; i < a->members.n; i++)
        if (members[i].since_ns < members[first].since_ns)
            first = i;
    return first;
}

/* Writes a member's entry in the manifest. Each rank is a separate machine, because ranks in
 * containers may have the same process ids. */
static void put_file(tm_out *out, const tm_export_job *job, const member *m,
                     const member *reference) {
    char name[NAME_MAX_CHARS], machine[512];
    member_name(m, name);
    tm_export_rank_name(job, m->rank, machine, sizeof machine);
    tm_out_string(out, "\n  {\"path\": \"");
    tm_out_string(out, name);
    tm_out_string(out, "\", \"machine\": {\"name\": ");
    tm_json_put_text(out, (tm_text){machine, strlen(machine)});
    tm_out_char(out, '}');
    if (m != reference) {
        member_name(reference, name);
        tm_out_string(out, ",\n   \"clocks\": {\"sync_to\": {\"file\": \"");
        tm_out_string(out, name);
        tm_out_string(out, "\"}, \"offset_ns\": ");
        tm_json_put_int(out, m->since_ns - reference->since_ns);
        tm_out_char(out, '}');
    }
    tm_out_char(out, '}');
}

static tm_status end(tm_export *x, tm_error *err) {
    const archive *a = x->state;
    const member *members = a->members.data;
    static const char zeros[2 * TAR_BLOCK]; /* marks the end of a tar file */
    tm_out text = TM_OUT();
    /* Perfetto recognises a manifest by these bytes. */
    tm_out_string(&text, "{\"perfetto_manifest\": {\"version\": 1, \"files\": [");
    for (size_t i = 0; i < a->members.n; i++) {
        tm_out_string(&text, i == 0 ? "" : ",");
        put_file(&text, x->job, &members[i], &members[reference_of(a)]);
    }
    tm_out_string(&text, "\n]}}\n");
    const tar_header header = header_of(MANIFEST_NAME, (int64_t)text.bytes.n);
    tm_out_bytes(&x->out, &header, sizeof header);
    tm_out_bytes(&x->out, text.bytes.data, text.bytes.n);
    pad(x, (int64_t)text.bytes.n);
    tm_out_bytes(&x->out, zeros, sizeof zeros);
    bool failed = text.failed;
    tm_vec_free(&text.bytes);
    return failed ? tm_fail_memory(err) : TM_OK;
}

static void destroy(tm_export *x) {
    archive *a = x->state;
    tm_vec_free(&a->members);
    free(a->piece);
}

const tm_export_format tm_export_archive = {
    .name = "archive",
    .ending = ".tar",
    .summary = "the original traces, with the data that Perfetto needs to open them as one",
    .begins = MAGIC "\0" VERSION USER,
    .begins_size = sizeof MAGIC "\0" VERSION USER - 1,
    .begins_at = MAGIC_AT,
    .needs_file = true,
    .state_size = sizeof(archive),
    .spans_alone = true,
    .begin = begin,
    .rank = rank,
    .end = end,
    .destroy = destroy,
};
