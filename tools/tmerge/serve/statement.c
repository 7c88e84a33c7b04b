#include "serve/statement.h"

#include <stdlib.h>
#include <string.h>

#include "report/page_json.h"
#include "serve/answer.h"
#include "sql/sql.h"

/* Decodes escapes such as %41 in place. Returns false if an escape is invalid or encodes a NUL. */
static bool decode(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++, to++) {
        *to = *from;
        if (*from != '%')
            continue;
        if (strspn(from + 1, "0123456789abcdefABCDEF") < 2)
            return false;
        const char digits[] = {from[1], from[2], '\0'};
        *to = (char)strtoul(digits, NULL, 16);
        if (*to == '\0')
            return false;
        from += 2;
    }
    *to = '\0';
    return true;
}

typedef struct answer {
    tm_out json;
    bool begun, more; /* the first slice is written; there is a second one */
} answer;

/* Writes the first slice of rows to the answer. This slice has all rows, unless they have too many
 * cells. Fails at the second slice, so that no further rows are read. */
static tm_status put_slice(void *context, const tm_table *slice, tm_error *err) {
    answer *a = context;
    a->more = a->begun;
    if (a->more)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "more rows than an answer has");
    a->begun = true;
    tm_report_json_def(&a->json, slice);
    tm_out_string(&a->json, ",\"cells\":");
    tm_report_json_columns(&a->json, slice, 0);
    return TM_OK;
}

static tm_status put_rows(const tm_sql_query *query, answer *a, tm_error *err) {
    const tm_rows rows = tm_sql_rows(query);
    tm_status status = rows.each(&rows, put_slice, a, err);
    tm_out_string(&a->json, a->more ? ",\"more\":true}" : "}");
    return a->more ? TM_OK : status;
}

static tm_status run(const tm_store *store, const char *text, const tm_http_others *others,
                     answer *a, tm_error *err) {
    const tm_sql_limits limits = {.memory_bytes = INT64_C(256) << 20,
                                  .seconds = 10,
                                  .meanwhile = others->serve,
                                  .context = others->context};
    tm_sql *sql = NULL;
    tm_sql_query *query = NULL;
    TM_TRY(tm_sql_open(store, &sql, err));
    tm_status status = tm_sql_prepare(sql, text, &limits, &query, err);
    if (status == TM_OK)
        status = put_rows(query, a, err);
    tm_sql_free(query);
    tm_sql_close(sql);
    return status;
}

void tm_statement_answer(const tm_store *store, tm_http_look *look, const void *query,
                         const tm_http_others *others, tm_http_answer *out) {
    tm_error err = {.status = TM_OK};
    answer a = {.json = TM_OUT()};
    const char *escaped = look(query, "text");
    char *text = strdup(escaped ? escaped : "");
    tm_status status = !text ? tm_fail_memory(&err)
                       : decode(text)
                           ? run(store, text, others, &a, &err)
                           : tm_fail(&err, TM_ERR_USAGE, NULL, -1,
                                     "give a statement as text=STATEMENT, percent-encoded");
    tm_answer_json(status, &a.json, &err, out);
    free(text);
}
