#include "operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inputs/list_lines.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/bytes.h"

/* Header of an operand in messages between processes. The 0-terminated text of the operand follows
 * it. */
typedef struct head {
    int64_t typed; /* index of the operand among those on the command line */
    int64_t line;  /* line of the operand in its list file, from 1; 0: it was typed */
} head;

const char *tm_operand_list(const char *typed) {
    struct stat info;
    return *typed == '@' && stat(typed, &info) != 0 ? typed + 1 : NULL;
}

static tm_status add(tm_vec *bytes, head where, const char *text, tm_error *err) {
    bool ok = tm_vec_append(bytes, &where, sizeof where) != NULL &&
              tm_vec_append(bytes, text, strlen(text) + 1) != NULL;
    return ok ? TM_OK : tm_fail_memory(err);
}

typedef struct listing {
    tm_vec *bytes;
    int64_t typed;
} listing;

static tm_status add_line(void *context, const tm_line *line, tm_error *err) {
    const listing *l = context;
    return add(l->bytes, (head){l->typed, line->number}, line->text, err);
}

static tm_status read_list(tm_vec *bytes, const char *list, int64_t typed, tm_error *err) {
    size_t before = bytes->n;
    listing l = {bytes, typed};
    TM_TRY(tm_lines_each(list, add_line, &l, err));
    return bytes->n > before ? TM_OK
                             : tm_fail(err, TM_ERR_INPUT, list, -1, "this list contains no names");
}

static tm_status read_all(const tm_arguments *arguments, tm_vec *bytes, tm_error *err) {
    for (size_t i = 0; i < arguments->n_operands; i++) {
        const char *typed = arguments->operands[i], *list = tm_operand_list(typed);
        TM_TRY(list ? read_list(bytes, list, (int64_t)i, err)
                    : add(bytes, (head){(int64_t)i, 0}, typed, err));
    }
    return TM_OK;
}

static tm_status unpack(const tm_arguments *arguments, const char *bytes, size_t size,
                        tm_operands *out, tm_error *err) {
    tm_vec all = TM_VEC(tm_operand);
    for (const char *p = bytes; p < bytes + size;) {
        head where;
        memcpy(&where, p, sizeof where);
        p += sizeof where;
        const char *list = where.line > 0 ? arguments->operands[where.typed] + 1 : NULL;
        const tm_operand operand = {p, list, where.line};
        if (!tm_vec_append(&all, &operand, 1)) {
            tm_vec_free(&all);
            return tm_fail_memory(err);
        }
        p += strlen(p) + 1;
    }
    out->v = all.data;
    out->n = all.n;
    return TM_OK;
}

tm_status tm_operands_read(const tm_arguments *arguments, tm_operands *out, tm_error *err) {
    tm_vec bytes = TM_VEC(char);
    tm_status status = read_all(arguments, &bytes, err);
    out->bytes = bytes.data;
    return status == TM_OK ? unpack(arguments, bytes.data, bytes.n, out, err) : status;
}

tm_status tm_mpi_operands_read(MPI_Comm comm, const tm_arguments *arguments, tm_operands *out,
                               tm_error *err) {
    int self;
    tm_vec bytes = TM_VEC(char);
    MPI_Comm_rank(comm, &self);
    tm_status status = self == 0 ? read_all(arguments, &bytes, err) : TM_OK;
    out->bytes = bytes.data;
    size_t size = bytes.n;
    TM_TRY(tm_mpi_agree(comm, status, err));
    TM_TRY(tm_mpi_broadcast_bytes(comm, &out->bytes, &size, err));
    return tm_mpi_agree(comm, unpack(arguments, out->bytes, size, out, err), err);
}

tm_status tm_operand_fail(const tm_operand *operand, const char *why, tm_error *err) {
    if (!operand->list)
        return tm_fail(err, TM_ERR_INPUT, operand->text, -1, "%s", why);
    return tm_fail(err, TM_ERR_INPUT, operand->list, -1, "line %" PRId64 ": %.400s: %s",
                   operand->line, operand->text, why);
}

void tm_operands_free(tm_operands *operands) {
    free(operands->v);
    free(operands->bytes);
    *operands = (tm_operands){0};
}
