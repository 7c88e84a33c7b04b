/* The verdict and the first advice, with as much evidence as fits. */
#include "summary/summary.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "summary/summary_text.h"

enum { TEXT_MAX = 2048, ADVICE_LINES = 2 };

static int lines_of(const char *text) {
    return *text ? tm_console_lines(text, 0, tm_console_width()) : 0;
}

/* Returns whether a clause of the text ends at index @p at. There must be one of the marks, with a
 * blank after it, outside of brackets and quotes. The clause does not end before an alternative
 * such as ", or its work". If the text were cut there, it would claim more than is known. */
static bool ends_clause(const char *text, size_t at, const char *marks) {
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < at; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        quoted = quoted != (text[i] == '"');
    }
    return depth == 0 && !quoted && strchr(marks, text[at]) && text[at + 1] == ' ' &&
           strncmp(text + at + 1, " or ", 4) != 0;
}

/* Shortens a text so that it fits on @p lines lines together with @p tail, which is kept. Cuts the
 * text only where a clause ends. Writes "" if not even the first clause fits. */
static void fit(const char *text, const char *marks, const char *tail, int column, int lines,
                char out[TEXT_MAX]) {
    const int width = tm_console_width();
    snprintf(out, TEXT_MAX, "%.1400s%.240s", text, tail);
    for (size_t end = strlen(text); tm_console_lines(out, column, width) > lines && end > 0;) {
        end--;
        while (end > 0 && !ends_clause(text, end, marks))
            end--;
        snprintf(out, TEXT_MAX, "%.*s ...%.240s", (int)end, text, tail);
        if (end == 0)
            *out = '\0';
    }
}

/* Returns the advice about the named rank, which is part of the verdict. */
static const char *named_advice(const tm_tables *tables) {
    const tm_table *items = tm_tables_find(tables, "advice.item");
    for (size_t i = 0; i < items->n_rows; i++)
        if (strcmp(tm_table_cell(items, i, "rule")->value.text, "straggler") == 0)
            return tm_table_cell(items, i, "text")->value.text;
    return "";
}

void tm_summary_saving(const tm_tables *tables, size_t row, char *out, size_t size) {
    const tm_cell *saves = tm_table_cell(tm_tables_find(tables, "advice.item"), row, "saves");
    snprintf(out, size, "%s%s", saves->null ? "" : " ", saves->null ? "" : saves->value.text);
}

/* Writes to @p out the first advice that the verdict does not contain; "" if there is none. Returns
 * the number of lines of the advice. */
static int write_advice(const tm_tables *tables, int lines, char out[TEXT_MAX]) {
    const tm_table *items = tm_tables_find(tables, "advice.item");
    const int column = (int)strlen("Advice:");
    char saving[224];
    size_t i = 0;
    while (i < items->n_rows &&
           strcmp(tm_table_cell(items, i, "rule")->value.text, "straggler") == 0)
        i++;
    *out = '\0';
    if (i == items->n_rows)
        return 0;
    tm_summary_saving(tables, i, saving, sizeof saving);
    const char *text = tm_table_cell(items, i, "text")->value.text;
    fit(text, ",;.:", saving, column, lines, out);
    if (!*out) /* tries again without the saving, because the action matters more than the saving */
        fit(text, ",;.:", "", column, lines, out);
    if (!*out)
        fit(text, ",;.:", "", column, INT_MAX, out);
    return tm_console_lines(out, column, tm_console_width());
}

typedef struct verdict {
    const char *headline, *saved, *evidence; /* "" for none */
    int fixed;                               /* number of lines of `headline` and `saved` */
} verdict;

/* If a text starts with the sentence, returns the rest of the text. Otherwise, returns the whole
 * text. */
static const char *after_sentence(const char *sentence, const char *text) {
    const size_t n = strlen(sentence);
    if (strncmp(text, sentence, n) != 0)
        return text;
    return text + n + strspn(text + n, ". ");
}

static verdict read_verdict(const tm_tables *tables) {
    const tm_table *job = tm_tables_find(tables, "stragglers.job");
    const tm_table *whatif = tm_tables_find(tables, "whatif.job");
    const tm_cell *evidence = tm_table_cell(job, 0, "evidence");
    const tm_cell *saved = whatif->n_rows > 0 ? tm_table_cell(whatif, 0, "headline") : NULL;
    verdict v = {.headline = tm_table_cell(job, 0, "headline")->value.text,
                 .saved = saved && !saved->null ? saved->value.text : "",
                 .evidence = evidence->null ? "" : evidence->value.text};
    /* Evidence is left out if it would repeat the line about unmatched kernels. */
    if (tm_summary_mostly_unmatched(tables) && tm_table_cell(job, 0, "matched_share")->null)
        v.evidence = "";
    v.saved = after_sentence(v.headline, v.saved);
    v.fixed = margin_lines(v.headline) + lines_of(v.saved);
    return v;
}

/* Returns the number of lines that the advice may take. If verdict and advice do not fit together,
 * the advice may take at most two. */
static int advice_lines(const tm_tables *tables, const verdict *v, int lines) {
    enum { ALL = 100 };
    char text[TEXT_MAX];
    const int whole = write_advice(tables, ALL, text);
    const bool fits = lines == 0 || v->fixed + lines_of(v->evidence) + whole <= lines;
    return fits || whole < ADVICE_LINES ? whole : ADVICE_LINES;
}

void tm_summary_advice(const tm_tables *tables, int lines) {
    char text[TEXT_MAX];
    const verdict v = read_verdict(tables);
    if (write_advice(tables, advice_lines(tables, &v, lines), text) == 0)
        return;
    /* "Then:" if the verdict already contains the first advice. */
    const char *label = *named_advice(tables) ? "Then:" : "Advice:";
    fputs(label, stdout);
    tm_console_wrap(text, (int)strlen(label), tm_console_width());
}

/* Prints the evidence. If it does not fit, prints the place to look at first, and then as much of
 * the evidence as fits. If no place is known and the verdict is short, prints at least one line of
 * evidence. */
static void print_evidence(const tm_tables *tables, const verdict *v, int lines) {
    enum { SHORT = 3 };
    char text[TEXT_MAX];
    const int width = tm_console_width();
    int left = lines - v->fixed - advice_lines(tables, v, lines);
    if (lines_of(v->evidence) > left) {
        const char *look = named_advice(tables);
        fit(look, ":", "", 0, left > 1 ? left : 1, text);
        const char *shown = *text ? text : look;
        if (*shown)
            tm_console_wrap(shown, 0, width);
        left -= lines_of(shown);
        left = left > 0 || *shown || v->fixed > SHORT ? left : 1;
    }
    fit(v->evidence, ";.", "", 0, left, text);
    if (*text && left > 0)
        tm_console_wrap(text, 0, width);
}

/* For a job of one rank, returns the text that replaces the verdict; "" for other jobs. */
static const char *alone_text(const tm_tables *tables, const char *column) {
    const tm_table *job = tm_tables_find(tables, "overview.job");
    const tm_cell *cell = job->n_rows > 0 ? tm_table_cell(job, 0, column) : NULL;
    return cell && !cell->null ? cell->value.text : "";
}

void tm_summary_verdict(const tm_tables *tables, int lines, const tm_colors *colors) {
    const verdict v = read_verdict(tables);
    const char *one = alone_text(tables, "headline"), *why = alone_text(tables, "evidence");
    const bool alone = *one != '\0';
    fputs(colors->strong, stdout);
    print_margin(alone ? one : v.headline);
    fputs(colors->off, stdout);
    if (*why)
        tm_console_wrap(why, 0, tm_console_width());
    if (*v.saved)
        tm_console_wrap(v.saved, 0, tm_console_width());
    if (alone && sum_column(tm_tables_find(tables, "overlap.rank"), "comm_ns") == 0)
        return; /* A rank that does not communicate has no waits, so there is no evidence about
                   waits. */
    if (lines > 0 && *v.evidence)
        print_evidence(tables, &v, lines);
    else if (*v.evidence)
        tm_console_wrap(v.evidence, 0, tm_console_width());
    if (tm_summary_mostly_unmatched(tables))
        tm_summary_unmatched(tables, true, colors);
}
