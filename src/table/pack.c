#include "tmerge/table.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "table/out.h"
#include "table/rows.h"

/* Layout, in the sender's byte order, without padding: the header, then every cell, row after row:
 * one byte (0: null, 1: a value follows) and the value: 8 bytes of an int or a real, one byte of a
 * bool, 8 bytes of size and the bytes of a text. */
typedef struct header {
    uint64_t signature; /* of the definition */
    uint64_t n_rows;
} header;

/* Differs between tables whose rows could be taken for each other's. */
static uint64_t signature_of(const tm_table_def *def) {
    uint64_t hash = tm_hash(TM_HASH_BEGIN, def->name, strlen(def->name) + 1);
    for (int c = 0; c < def->n_columns; c++) {
        const tm_column *column = &def->columns[c];
        hash = tm_hash(hash, column->name, strlen(column->name) + 1);
        hash = tm_hash(hash, &column->type, sizeof column->type);
    }
    return hash;
}

/* Appends one cell; a null is its flag alone. */
static void pack_cell(tm_out *out, tm_type type, const tm_cell *cell) {
    tm_out_char(out, cell->null ? 0 : 1);
    if (cell->null)
        return;
    switch (type) {
    case TM_INT:
        tm_out_bytes(out, &cell->value.i, sizeof cell->value.i);
        break;
    case TM_REAL:
        tm_out_bytes(out, &cell->value.r, sizeof cell->value.r);
        break;
    case TM_BOOL:
        tm_out_char(out, cell->value.i ? 1 : 0);
        break;
    case TM_TEXT: {
        uint64_t size = strlen(cell->value.text);
        tm_out_bytes(out, &size, sizeof size);
        tm_out_bytes(out, cell->value.text, (size_t)size);
        break;
    }
    }
}

tm_status tm_table_pack(const tm_table *table, void **bytes, size_t *size, tm_error *err) {
    tm_out out = TM_OUT();
    const header head = {.signature = signature_of(table->def), .n_rows = table->n_rows};
    tm_out_bytes(&out, &head, sizeof head);
    for (size_t r = 0; r < table->n_rows; r++) {
        const tm_cell *row = tm_table_row(table, r);
        for (int c = 0; c < table->def->n_columns; c++)
            pack_cell(&out, table->def->columns[c].type, &row[c]);
    }
    char *packed = NULL;
    TM_TRY(tm_out_take(&out, &packed, size, err));
    *bytes = packed;
    return TM_OK;
}

/* Where unpacking stands; at never passes size, so their difference is what is left. */
typedef struct reader {
    const char *bytes; /* borrowed, of any alignment */
    size_t size;
    size_t at;
    tm_error *err;
} reader;

/* Such bytes are our fault, never an input's: they come from another of our processes. */
static tm_status refuse(const reader *in, size_t offset, const char *why) {
    return tm_fail(in->err, TM_ERR_FAULT, NULL, (int64_t)offset, "packed rows: %s", why);
}

/* The next bytes as they are in memory; the offset of a failure is where they should begin. */
static tm_status take(reader *in, void *into, size_t size) {
    if (size > in->size - in->at)
        return refuse(in, in->at, "cut short");
    memcpy(into, in->bytes + in->at, size);
    in->at += size;
    return TM_OK;
}

/* A byte that is 0 or 1. */
static tm_status take_flag(reader *in, bool *flag) {
    unsigned char byte = 0;
    TM_TRY(take(in, &byte, 1));
    if (byte > 1)
        return refuse(in, in->at - 1, "a flag that is neither 0 nor 1");
    *flag = byte == 1;
    return TM_OK;
}

/* The size is checked before anything is allocated by it. */
static tm_status take_text(reader *in, tm_table *table, tm_cell *cell) {
    uint64_t size = 0;
    TM_TRY(take(in, &size, sizeof size));
    if (size > in->size - in->at)
        return refuse(in, in->at - sizeof size, "a text longer than what is left");
    const char *text = in->bytes + in->at;
    TM_TRY(tm_table_set_bytes(table, cell, text, (size_t)size, in->err));
    /* Both: a sequence cut short at the end has its replacement's first bytes. */
    if (strlen(cell->value.text) != size || memcmp(cell->value.text, text, (size_t)size) != 0)
        return refuse(in, in->at, "a text that is not UTF-8");
    in->at += (size_t)size;
    return TM_OK;
}

/* Fills a cell of a new row; what the setters would change is refused instead, for no cell that was
 * packed can hold it. */
static tm_status take_cell(reader *in, tm_table *table, tm_type type, tm_cell *cell) {
    bool present = false;
    TM_TRY(take_flag(in, &present));
    if (!present)
        return TM_OK; /* a new row is null */
    int64_t integer = 0;
    double real = 0;
    bool flag = false;
    switch (type) {
    case TM_INT:
        TM_TRY(take(in, &integer, sizeof integer));
        tm_cell_set_int(cell, integer);
        return TM_OK;
    case TM_REAL:
        TM_TRY(take(in, &real, sizeof real));
        if (!isfinite(real))
            return refuse(in, in->at - sizeof real, "a real that is not finite");
        tm_cell_set_real(cell, real);
        return TM_OK;
    case TM_BOOL:
        TM_TRY(take_flag(in, &flag));
        tm_cell_set_bool(cell, flag);
        return TM_OK;
    case TM_TEXT:
        break;
    }
    return take_text(in, table, cell);
}

static tm_status take_rows(reader *in, tm_table *table, size_t n_rows) {
    for (size_t r = 0; r < n_rows; r++) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(in->err);
        for (int c = 0; c < table->def->n_columns; c++)
            TM_TRY(take_cell(in, table, table->def->columns[c].type, &row[c]));
    }
    return in->at == in->size ? TM_OK : refuse(in, in->at, "bytes after the last row");
}

tm_status tm_table_unpack(tm_table *table, const void *bytes, size_t size, tm_error *err) {
    reader in = {.bytes = bytes, .size = size, .err = err};
    header head = {0};
    TM_TRY(take(&in, &head, sizeof head));
    if (head.signature != signature_of(table->def))
        return refuse(&in, 0, "of another table");
    /* Every cell has a byte at least, so a damaged count cannot ask for more than was sent. */
    if (head.n_rows > (size - in.at) / tm_rows_width(table))
        return refuse(&in, offsetof(header, n_rows), "more rows than bytes");
    size_t n_rows = table->n_rows;
    if (!tm_rows_reserve(table, n_rows + (size_t)head.n_rows))
        return tm_fail_memory(err);
    tm_status status = take_rows(&in, table, (size_t)head.n_rows);
    if (status != TM_OK)
        table->n_rows = n_rows;
    return status;
}
