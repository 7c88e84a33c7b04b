/* Changes bytes of a valid store, and reads a part of it. With the original checksums, all data
 * that can be read equals the written data. With the checksums of the changed data, the reader must
 * cope with any data. */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "require.h"
#include "store/check_rows.h"
#include "store/checksum.h"
#include "tmerge/store.h"

enum { N_RANKS = 3, N_TRACKS = 4, N_EVENTS = 300, N_NAMES = 20, N_STEPS = 2, CHUNK_ROWS = 128 };

/* The columns of the store. They are few, so that a run is quick: the columns that the check
 * compares with other rows, and one column of each element type. */
static const struct {
    tm_record table;
    const char *name;
} chosen[] = {
    {TM_RECORD_RANKS, "rank"},
    {TM_RECORD_RANKS, "first_event"},
    {TM_RECORD_RANKS, "n_events"},
    {TM_RECORD_TRACKS, "rank"},
    {TM_RECORD_TRACKS, "first"},
    {TM_RECORD_TRACKS, "count"},
    {TM_RECORD_EVENTS, "begin_ns"},
    {TM_RECORD_EVENTS, "name"},
    {TM_RECORD_EVENTS, "step"},
    {TM_RECORD_EVENTS, "category"},
    {TM_RECORD_KERNELS, "occupancy_pct"},
    {TM_RECORD_COUNTERS, "value"},
};

enum { N_CHOSEN = sizeof chosen / sizeof *chosen };

static const tm_column columns[] = {{"rank", TM_INT, "", "int"},
                                    {"host", TM_TEXT, "", "text"},
                                    {"share", TM_REAL, "%", "real"},
                                    {"partial", TM_BOOL, "", "bool"}};
static const tm_table_def def = {
    .name = "fuzz.table", .doc = "rows", .columns = columns, .n_columns = 4, .n_keys = 1};

static size_t rows_of(tm_record table) {
    switch (table) {
    case TM_RECORD_RANKS:
        return N_RANKS;
    case TM_RECORD_TRACKS:
        return N_TRACKS;
    default:
        return N_EVENTS;
    }
}

static const tm_record_column *column_of(size_t i) {
    const tm_record_table *table = &tm_record_tables[chosen[i].table];
    int c = 0;
    while (strcmp(table->columns[c].name, chosen[i].name) != 0)
        c++;
    return &table->columns[c];
}

/* Returns an original value. Rank 0 has events 0 to 99 on two tracks, rank 1 has events 100 to 299
 * and an empty track, rank 2 has none. Other columns have values that are valid references. */
static int64_t value_of(const char *path, size_t row) {
    static const struct {
        const char *path;
        int64_t values[N_TRACKS];
    } known[] = {
        {"/ranks/first_event", {0, 100, 300, 0}},
        {"/ranks/n_events", {100, 200, 0, 0}},
        {"/ranks/rank", {0, 1, 2, 0}},
        {"/tracks/rank", {0, 0, 1, 1}},
        {"/tracks/first", {0, 40, 100, 300}},
        {"/tracks/count", {40, 60, 200, 0}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].path, path) == 0)
            return known[i].values[row];
    return strcmp(path, "/events/begin_ns") == 0 ? 1000 + (int64_t)row : (int64_t)row % N_STEPS;
}

static void put_columns(tm_store_writer *writer) {
    tm_error err;
    for (size_t i = 0; i < N_CHOSEN; i++) {
        const tm_record_table *table = &tm_record_tables[chosen[i].table];
        const tm_record_column *column = column_of(i);
        char path[256];
        snprintf(path, sizeof path, "%s/%s", table->path, column->name);
        if (i == 0 || chosen[i].table != chosen[i - 1].table)
            require(tm_store_put_group(writer, table->path, table->doc, &err) == TM_OK);
        size_t n = rows_of(chosen[i].table);
        require(tm_store_begin_column(writer, table->path, column, n, &err) == TM_OK);
        for (size_t row = 0; row < n; row++) {
            int64_t value = value_of(path, row); /* shorter columns take the low bytes */
            require(tm_store_put_rows(writer, &value, 1, &err) == TM_OK);
        }
        require(tm_store_end_column(writer, &err) == TM_OK);
    }
}

static void put_rest(tm_store_writer *writer) {
    tm_error err;
    const tm_table_def *defs[] = {&def};
    tm_tables tables;
    tm_names *names = tm_names_create();
    const tm_store_attribute attributes[] = {{"command", "tmerge x", 0}, {"ranks", NULL, N_RANKS}};
    require(tm_tables_create(defs, 1, &tables, &err) == TM_OK && names);
    for (int64_t i = 0; i < N_NAMES; i++) {
        char text[32];
        snprintf(text, sizeof text, "name %d", (int)(i * i));
        (void)tm_names_intern_string(names, text);
        tm_cell *row = tm_table_add_row(&tables.tables[0]);
        tm_cell_set_int(&row[0], i);
        require(tm_table_set_text(&tables.tables[0], &row[1], text, &err) == TM_OK);
        tm_cell_set_real(&row[2], 0.5);
        tm_cell_set_bool(&row[3], i % 2 == 0);
    }
    require(tm_store_put_names(writer, names, &err) == TM_OK);
    require(tm_store_put_table(writer, &tables.tables[0], &err) == TM_OK);
    for (int i = 0; i < 2; i++)
        require(tm_store_put_attribute(writer, &attributes[i], &err) == TM_OK);
    tm_names_destroy(names);
    tm_tables_destroy(&tables);
}

/* Parts of a store, numbered after the columns. A run reads one part, because reading all takes
 * long. The last two have no extents. */
enum { PART_NAMES = N_CHOSEN, PART_TABLE, PART_ATTRIBUTES, PART_CHECK, N_PARTS, EXTENTS_MAX = 256 };

typedef struct base {
    uint8_t *bytes;
    size_t size;
    tm_checksum seal;
    int owner[EXTENTS_MAX]; /* part to which each extent belongs */
    uint64_t sums[N_PARTS]; /* checksum of each part's original content */
} base;

/* File of the changed store, in memory if possible. It has no name, so it ends with the process. */
typedef struct scratch {
    int fd;
    char path[64];
} scratch;

static scratch make_scratch(void) {
    scratch made;
    char memory[] = "/dev/shm/tmerge-fuzz-XXXXXX", disk[] = "/tmp/tmerge-fuzz-XXXXXX";
    made.fd = mkstemp(memory);
    const char *name = made.fd >= 0 ? memory : disk;
    made.fd = made.fd >= 0 ? made.fd : mkstemp(disk);
    require(made.fd >= 0 && unlink(name) == 0);
    snprintf(made.path, sizeof made.path, "/proc/self/fd/%d", made.fd);
    return made;
}

static void ignore_fault(void *context, const tm_error *fault) {
    (void)context;
    require(fault->status == TM_ERR_INPUT && fault->message[0] != '\0');
}

static void check_error(tm_status status, const tm_error *err) {
    require(status == TM_ERR_INPUT && err->status == status && err->message[0] != '\0');
}

/* Reads all rows in two calls, in most columns with the border inside a chunk, then one again. */
static uint64_t read_column(const tm_store *store, size_t i) {
    const tm_record_column *column = column_of(i);
    static char rows[N_EVENTS * 8];
    char path[256];
    tm_error err;
    tm_store_column *open;
    snprintf(path, sizeof path, "%s/%s", tm_record_tables[chosen[i].table].path, column->name);
    tm_status status = tm_store_open_column(store, path, column->element, &open, &err);
    if (status != TM_OK) {
        check_error(status, &err);
        return 0;
    }
    size_t n = tm_store_column_rows(open), half = n / 2, size = tm_element_size(column->element);
    require(n == rows_of(chosen[i].table));
    status = tm_store_read_rows(open, 0, half, rows, &err);
    if (status == TM_OK)
        status = tm_store_read_rows(open, half, n - half, rows + half * size, &err);
    uint64_t sum = status == TM_OK ? tm_checksum_of(rows, n * size) : 0;
    if (status != TM_OK)
        check_error(status, &err);
    (void)!tm_store_read_rows(open, 0, 1, rows, &err);
    require(tm_store_read_rows(open, n, 1, rows, &err) == TM_ERR_INPUT);
    tm_store_close_column(open);
    return sum;
}

static uint64_t read_names(const tm_store *store) {
    tm_error err;
    tm_names *names;
    uint64_t sum = 1;
    tm_status status = tm_store_read_names(store, &names, &err);
    if (status != TM_OK) {
        check_error(status, &err);
        return 0;
    }
    for (uint32_t id = 0; id < tm_names_count(names); id++) {
        tm_text text = tm_names_text(names, id);
        sum = sum * 31 + tm_checksum_of(text.bytes, text.size);
    }
    tm_names_destroy(names);
    return sum;
}

static uint64_t read_table(const tm_store *store) {
    const tm_table_def *defs[] = {&def};
    tm_tables tables;
    tm_error err;
    char *text = NULL;
    uint64_t sum = 0;
    require(tm_tables_create(defs, 1, &tables, &err) == TM_OK);
    const tm_table *table = &tables.tables[0];
    tm_status status = tm_store_read_table(store, &tables.tables[0], &err);
    if (status == TM_OK) {
        require(tm_tables_json(&table, 1, "store", &text, &err) == TM_OK);
        sum = tm_checksum_of(text, strlen(text));
    } else {
        check_error(status, &err);
    }
    free(text);
    tm_tables_destroy(&tables);
    return sum;
}

static uint64_t read_attributes(const tm_store *store) {
    char *text = NULL;
    int64_t number = 0;
    tm_error err;
    bool done = tm_store_read_text(store, "command", &text, &err) == TM_OK && text &&
                tm_store_read_number(store, "ranks", -1, &number, &err) == TM_OK;
    uint64_t sum = done ? tm_checksum_of(text, strlen(text)) + (uint64_t)number : 0;
    free(text);
    return sum;
}

static uint64_t check_rows(const tm_store *store) {
    static char rows[TM_CHECK_ROWS * TM_CHECK_ELEMENT_MAX];
    const tm_fault_sink sink = {ignore_fault, NULL};
    tm_error err;
    tm_check check = {.store = store, .sink = &sink, .err = &err, .n_names = N_NAMES, .rows = rows};
    for (int t = 0; t < TM_N_RECORDS; t++)
        check.n_rows[t] = rows_of((tm_record)t);
    tm_check_tracks(&check);
    for (size_t i = 0; i < N_CHOSEN; i++)
        tm_check_column_rows(&check, chosen[i].table, column_of(i));
    require(check.status == TM_OK);
    free(check.track_ends);
    return check.n_faults == 0;
}

/* Returns a checksum of a part; 0 if the part cannot be read. */
static uint64_t read_part(const tm_store *store, int part) {
    switch (part) {
    case PART_NAMES:
        return read_names(store);
    case PART_TABLE:
        return read_table(store);
    case PART_ATTRIBUTES:
        return read_attributes(store);
    case PART_CHECK:
        return check_rows(store);
    default:
        return read_column(store, (size_t)part);
    }
}

static uint64_t read_store(const char *path, int part) {
    tm_store *store;
    tm_error err;
    size_t n_tables;
    tm_status status = tm_store_open(path, &store, &err);
    if (status != TM_OK) {
        check_error(status, &err);
        return 0;
    }
    (void)tm_store_tables(store, &n_tables);
    require(n_tables == 1 && tm_store_has_table(store, def.name));
    uint64_t sum = read_part(store, part);
    tm_store_close(store);
    return sum;
}

/* Damages each extent in turn. The first part that then cannot be read owns the extent. */
static void find_owners(base *made, const char *path, int fd) {
    const tm_extent *e = made->seal.extents.data;
    require(made->seal.extents.n <= EXTENTS_MAX);
    for (size_t i = 0; i < made->seal.extents.n; i++) {
        uint8_t damaged = made->bytes[e[i].offset] ^ 1;
        int part = 0;
        require(pwrite(fd, &damaged, 1, (off_t)e[i].offset) == 1);
        while (part < PART_ATTRIBUTES && read_store(path, part) != 0)
            part++;
        require(part < PART_ATTRIBUTES);
        made->owner[i] = part;
        require(pwrite(fd, &made->bytes[e[i].offset], 1, (off_t)e[i].offset) == 1);
    }
}

static void make_base(base *made, bool compress) {
    char folder[] = "/tmp/tmerge-fuzz-XXXXXX", path[64];
    const tm_store_options options = {"0.0.0", compress, CHUNK_ROWS};
    tm_store_writer *writer;
    tm_error err;
    struct stat status;
    require(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/store.h5", folder);
    require(tm_store_create(path, &options, &writer, &err) == TM_OK);
    put_columns(writer);
    put_rest(writer);
    require(tm_store_commit(writer, &err) == TM_OK);
    int fd = open(path, O_RDWR);
    require(fd >= 0 && fstat(fd, &status) == 0);
    made->size = (size_t)status.st_size;
    made->bytes = malloc(made->size);
    require(made->bytes && tm_checksum_read_at(fd, 0, made->bytes, made->size));
    require(tm_checksum_read(fd, made->size, path, &made->seal, &err) == TM_OK);
    for (int part = 0; part < N_PARTS; part++) {
        made->sums[part] = read_store(path, part);
        require(made->sums[part] != 0);
    }
    find_owners(made, path, fd);
    close(fd);
    require(unlink(path) == 0 && rmdir(folder) == 0);
}

static bool is_of(const base *b, size_t extent, int part) {
    return b->owner[extent] == part || part >= PART_ATTRIBUTES;
}

/* Adds @p more to byte @p n, modulo the size, of a part's data. */
static void change_data(const base *b, uint8_t *bytes, int part, size_t n, uint8_t more) {
    const tm_extent *e = b->seal.extents.data;
    size_t size = 0, i = 0;
    for (size_t k = 0; k < b->seal.extents.n; k++)
        size += is_of(b, k, part) ? (size_t)e[k].size : 0;
    require(size > 0);
    for (n %= size; !is_of(b, i, part) || n >= e[i].size; i++)
        n -= is_of(b, i, part) ? (size_t)e[i].size : 0;
    bytes[e[i].offset + n] = (uint8_t)(bytes[e[i].offset + n] + more);
}

static void put_bytes(int fd, const uint8_t *bytes, size_t size) {
    require(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
}

/* Replaces the checksums of the file by those of the changed data. */
static void repair(const base *b, const uint8_t *bytes, int fd) {
    tm_vec extents = TM_VEC(tm_extent);
    require(tm_vec_append(&extents, b->seal.extents.data, b->seal.extents.n));
    tm_extent *e = extents.data;
    for (size_t i = 0; i < extents.n; i++)
        e[i].sum = tm_checksum_of(bytes + e[i].offset, (size_t)e[i].size);
    require(tm_checksum_write(fd, b->seal.content_bytes, &extents) == 0);
    tm_vec_free(&extents);
}

/* Format of the input: a byte with flags, and a byte with the part to read. Each change has three
 * bytes: two bytes for the position, and one byte that is added at this position. */
enum { PLAIN = 1, REPAIR = 2, RESIZE = 4, HEAD_BYTES = 2, CHANGE_BYTES = 3 };

static void change(const base *b, uint8_t *bytes, const uint8_t *data, size_t size, int part) {
    for (size_t i = HEAD_BYTES; i + CHANGE_BYTES <= size; i += CHANGE_BYTES) {
        size_t place = (size_t)data[i] << 8 | data[i + 1];
        if (data[0] & REPAIR)
            change_data(b, bytes, part, place, data[i + 2]);
        else
            bytes[place % b->size] = (uint8_t)(bytes[place % b->size] + data[i + 2]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static base bases[2];
    static scratch file;
    if (!bases[0].bytes) {
        /* HDF5 shall keep freed memory, because allocating 0.5 MB for each open file takes long. */
        require(H5set_free_list_limits(-1, -1, -1, -1, -1, -1) >= 0);
        make_base(&bases[0], true);
        make_base(&bases[1], false);
        file = make_scratch();
    }
    if (size < HEAD_BYTES)
        return 0;
    const base *b = &bases[data[0] & PLAIN ? 1 : 0];
    int part = data[1] % N_PARTS;
    uint8_t *bytes = malloc(b->size);
    require(bytes != NULL);
    memcpy(bytes, b->bytes, b->size);
    change(b, bytes, data, size, part);
    put_bytes(file.fd, bytes, b->size);
    if (data[0] & REPAIR)
        repair(b, bytes, file.fd);
    else if (data[0] & RESIZE && size > HEAD_BYTES + 1)
        require(ftruncate(file.fd, (off_t)((size_t)data[2] << 8 | data[3])) == 0);
    free(bytes);
    uint64_t sum = read_store(file.path, part);
    require(data[0] & REPAIR || sum == 0 || sum == b->sums[part]);
    return 0;
}
