#include "tmerge/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/varint.h"
#include "base/vec.h"
#include "table/rows.h"

/* Format of packed rows. Packs follow one another without padding. A pack is a header and the rows.
 * A row starts with one bit per column, lowest bit first, padded to whole bytes. The bit is set if
 * the value is null. Then follow the values that are not null:
 * - an int as a varint, so that small magnitudes take one byte;
 * - a real as 8 bytes;
 * - a bool as one byte;
 * - a text as a varint of its size, and the bytes.
 * Numbers have the sender's byte order. Packed rows take a fifth of the memory of cells. */
typedef struct header {
    uint64_t signature; /* signature_of() the definition */
    uint64_t n_rows;
} header;

/* Returns a hash that differs between tables with incompatible rows. */
static uint64_t signature_of(const tm_table_def *def) {
    uint64_t hash = tm_hash(TM_HASH_BEGIN, def->name, strlen(def->name) + 1);
    for (int c = 0; c < def->n_columns; c++) {
        const tm_column *column = &def->columns[c];
        hash = tm_hash(hash, column->name, strlen(column->name) + 1);
        hash = tm_hash(hash, &column->type, sizeof column->type);
    }
    return hash;
}

static size_t n_mask_bytes(const tm_table_def *def) {
    return ((size_t)def->n_columns + 7) / 8;
}

/* Returns the maximum bytes of a row. */
static size_t row_room(const tm_table_def *def, const tm_cell *row) {
    size_t room = n_mask_bytes(def) + (size_t)def->n_columns * TM_VARINT_MAX;
    for (int c = 0; c < def->n_columns; c++)
        if (def->columns[c].type == TM_TEXT && !row[c].null)
            room += strlen(row[c].value.text);
    return room;
}

/* Writes one value; returns the position after it. */
static uint8_t *pack_value(uint8_t *p, tm_type type, const tm_cell *cell) {
    switch (type) {
    case TM_INT:
        return tm_varint(p, tm_zigzag(cell->value.i));
    case TM_REAL:
        memcpy(p, &cell->value.r, sizeof cell->value.r);
        return p + sizeof cell->value.r;
    case TM_BOOL:
        *p = cell->value.i ? 1 : 0;
        return p + 1;
    case TM_TEXT:
        break;
    }
    size_t size = strlen(cell->value.text);
    p = tm_varint(p, size);
    memcpy(p, cell->value.text, size);
    return p + size;
}

static bool pack_row(const tm_table_def *def, const tm_cell *row, tm_vec *out) {
    if (!tm_vec_reserve(out, out->n + row_room(def, row)))
        return false;
    uint8_t *mask = (uint8_t *)out->data + out->n, *p = mask + n_mask_bytes(def);
    memset(mask, 0, n_mask_bytes(def));
    for (int c = 0; c < def->n_columns; c++)
        if (row[c].null)
            mask[c / 8] |= (uint8_t)(1 << c % 8);
        else
            p = pack_value(p, def->columns[c].type, &row[c]);
    out->n = (size_t)(p - (uint8_t *)out->data);
    return true;
}

static tm_status pack(const tm_table *table, tm_vec *out, tm_error *err) {
    const header head = {.signature = signature_of(table->def), .n_rows = table->n_rows};
    size_t before = out->n;
    bool ok = tm_vec_append(out, &head, sizeof head) != NULL;
    for (size_t r = 0; r < table->n_rows && ok; r++)
        ok = pack_row(table->def, tm_table_row(table, r), out);
    out->n = ok ? out->n : before;
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_table_pack(const tm_table *table, void **bytes, size_t *size, tm_error *err) {
    tm_vec out = TM_VEC(uint8_t);
    tm_status status = pack(table, &out, err);
    if (status != TM_OK) {
        tm_vec_free(&out);
        return status;
    }
    *bytes = out.data;
    *size = out.n;
    return TM_OK;
}

/* State of unpacking. `size` - `at` bytes are left; `at` never exceeds `size`. */
typedef struct reader {
    const char *bytes; /* borrowed, any alignment */
    size_t size;
    size_t at;
    tm_error *err;
} reader;

/* Fails with an internal fault, not an input error, because the bytes come from another process of
 * the run. */
static tm_status refuse(const reader *in, size_t offset, const char *why) {
    return tm_fail(in->err, TM_ERR_FAULT, NULL, (int64_t)offset, "packed rows: %s", why);
}

/* Copies the next bytes; a failure reports the offset at which they should begin. */
static tm_status take(reader *in, void *into, size_t size) {
    if (size > in->size - in->at)
        return refuse(in, in->at, "cut short");
    memcpy(into, in->bytes + in->at, size);
    in->at += size;
    return TM_OK;
}

static tm_status take_varint(reader *in, uint64_t *value) {
    const uint8_t *bytes = (const uint8_t *)in->bytes, *p = bytes + in->at;
    p = tm_varint_take(p, bytes + in->size, value);
    if (!p)
        return refuse(in, in->at, "an int that is cut short or too long");
    in->at = (size_t)(p - bytes);
    return TM_OK;
}

/* Reads a byte that must be 0 or 1. */
static tm_status take_flag(reader *in, bool *flag) {
    unsigned char byte = 0;
    TM_TRY(take(in, &byte, 1));
    if (byte > 1)
        return refuse(in, in->at - 1, "a flag that is neither 0 nor 1");
    *flag = byte == 1;
    return TM_OK;
}

/* Reads a text. Checks its size before allocating memory for it. */
static tm_status take_text(reader *in, tm_table *table, tm_cell *cell) {
    uint64_t size = 0;
    size_t begin = in->at;
    TM_TRY(take_varint(in, &size));
    if (size > in->size - in->at)
        return refuse(in, begin, "a text that is longer than the remaining bytes");
    const char *text = in->bytes + in->at;
    TM_TRY(tm_table_set_bytes(table, cell, text, (size_t)size, in->err));
    /* Comparing the bytes does not find every repair: a text cut to EF BF is repaired to EF BF BD,
     * which starts with the same bytes. So the sizes are compared, too. */
    if (strlen(cell->value.text) != size || memcmp(cell->value.text, text, (size_t)size) != 0)
        return refuse(in, in->at, "a text that is not UTF-8");
    in->at += (size_t)size;
    return TM_OK;
}

/* Fills a cell of a new row. Refuses values that a setter would change: such values are not in any
 * packed row, so the bytes are damaged. */
static tm_status take_cell(reader *in, tm_table *table, tm_type type, tm_cell *cell) {
    uint64_t integer = 0;
    double real = 0;
    bool flag = false;
    switch (type) {
    case TM_INT:
        TM_TRY(take_varint(in, &integer));
        tm_cell_set_int(cell, tm_unzigzag(integer));
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

static tm_status take_row(reader *in, tm_table *table) {
    const tm_table_def *def = table->def;
    const uint8_t *mask = (const uint8_t *)in->bytes + in->at;
    if (n_mask_bytes(def) > in->size - in->at)
        return refuse(in, in->at, "cut short");
    in->at += n_mask_bytes(def);
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(in->err);
    for (int c = 0; c < def->n_columns; c++)
        if (!(mask[c / 8] >> c % 8 & 1)) /* all cells of a new row are null already */
            TM_TRY(take_cell(in, table, def->columns[c].type, &row[c]));
    return TM_OK;
}

/* Reads the number of rows of the next pack. */
static tm_status take_header(reader *in, const tm_table_def *def, uint64_t *n_rows) {
    header head = {0};
    size_t begin = in->at;
    TM_TRY(take(in, &head, sizeof head));
    if (head.signature != signature_of(def))
        return refuse(in, begin, "of another table");
    /* A row takes at least one bit per column, so a damaged count cannot request much more memory
     * than the bytes received. */
    if (head.n_rows > (in->size - in->at) / n_mask_bytes(def))
        return refuse(in, begin + offsetof(header, n_rows), "more rows than bytes");
    *n_rows = head.n_rows;
    return TM_OK;
}

static tm_status take_pack(reader *in, tm_table *table) {
    uint64_t n_rows = 0;
    TM_TRY(take_header(in, table->def, &n_rows));
    if (!tm_rows_reserve(table, table->n_rows + (size_t)n_rows))
        return tm_fail_memory(in->err);
    tm_status status = TM_OK;
    for (size_t r = 0; r < n_rows && status == TM_OK; r++)
        status = take_row(in, table);
    return status;
}

tm_status tm_table_unpack(tm_table *table, const void *bytes, size_t size, tm_error *err) {
    reader in = {.bytes = bytes, .size = size, .err = err};
    size_t n_rows = table->n_rows;
    tm_status status = TM_OK;
    while (in.at < size && status == TM_OK)
        status = take_pack(&in, table);
    if (status != TM_OK)
        table->n_rows = n_rows;
    return status;
}

tm_status tm_table_compress(tm_table *table, tm_error *err) {
    if (table->n_rows == 0)
        return TM_OK;
    if (!table->compressed) {
        table->compressed = malloc(sizeof *table->compressed);
        if (!table->compressed)
            return tm_fail_memory(err);
        *table->compressed = TM_VEC(uint8_t);
    }
    TM_TRY(pack(table, table->compressed, err));
    tm_table_clear_rows(table);
    return TM_OK;
}

tm_status tm_table_rest(tm_table *table, tm_error *err) {
    enum { MANY_BYTES = 1 << 20 };
    if (table->n_rows * tm_rows_width(table) * sizeof *table->cells < MANY_BYTES)
        return TM_OK;
    TM_TRY(tm_table_compress(table, err));
    tm_vec_trim(table->compressed);
    free(table->cells); /* tm_table_compress has kept the memory of the rows for the next rank */
    table->cells = NULL;
    table->capacity = 0;
    table->rests = true;
    return TM_OK;
}

tm_status tm_table_copy_resting(const tm_table *table, tm_table *into, tm_error *err) {
    return tm_table_unpack(into, table->compressed->data, table->compressed->n, err);
}

static tm_status visit_pack(reader *in, tm_table *row, bool (*visit)(void *, const tm_cell *),
                            void *context) {
    uint64_t n_rows = 0;
    TM_TRY(take_header(in, row->def, &n_rows));
    for (size_t r = 0; r < n_rows; r++) {
        TM_TRY(take_row(in, row));
        if (!visit(context, tm_table_row(row, 0)))
            return tm_fail_memory(in->err);
        tm_table_clear_rows(row);
    }
    return TM_OK;
}

tm_status tm_table_each_compressed(const tm_table *table,
                                   bool (*visit)(void *context, const tm_cell *row), void *context,
                                   tm_error *err) {
    tm_table row = {.def = table->def};
    reader in = {.err = err};
    if (table->compressed) {
        in.bytes = table->compressed->data;
        in.size = table->compressed->n;
    }
    tm_status status = TM_OK;
    while (in.at < in.size && status == TM_OK)
        status = visit_pack(&in, &row, visit, context);
    tm_table_clear(&row);
    return status;
}

tm_status tm_table_take_back(tm_table *table, tm_error *err) {
    if (!table->compressed)
        return TM_OK;
    TM_TRY(tm_table_compress(table, err)); /* the rows added last are packed after the others, which
                                              keeps the order */
    tm_vec *compressed = table->compressed;
    table->compressed = NULL;
    table->rests = false;
    tm_status status = tm_table_unpack(table, compressed->data, compressed->n, err);
    tm_vec_free(compressed);
    free(compressed);
    return status;
}
