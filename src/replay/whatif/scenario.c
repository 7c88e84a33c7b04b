#include "scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "result.h"

/* Maximum factor, so that times do not overflow. */
enum { FACTOR_MAX = 1000 };

/* Kinds of edges that a part selects if it has no kind. WORK: if the part names a kernel or
 * operator. OF_A_RANK: otherwise. OF_A_RANK does not contain communication, because communication
 * belongs to no rank. */
static const uint16_t WORK =
    1 << TM_EDGE_COMPUTE | 1 << TM_EDGE_COPY | 1 << TM_EDGE_COMM | 1 << TM_EDGE_TRANSFER;
static const uint16_t OF_A_RANK =
    ((1 << TM_EDGE_BEFORE) - 1) & ~(1 << TM_EDGE_COMM | 1 << TM_EDGE_TRANSFER);

const char *const tm_condition_words[TM_N_CONDITIONS] = {
#define CONDITION_WORD(id, word) [TM_CONDITION_##id] = word,
    TM_CONDITION_LIST(CONDITION_WORD)
#undef CONDITION_WORD
};

static void free_rule(tm_name_rule *rule, const char *text) {
    if (text)
        regfree(&rule->regex);
    free(rule->known);
}

static void free_part(tm_scenario_part *part) {
    free_rule(&part->kernel, part->texts[TM_CONDITION_KERNEL]);
    free_rule(&part->operator, part->texts[TM_CONDITION_OPERATOR]);
    for (int c = 0; c < TM_N_CONDITIONS; c++)
        free(part->texts[c]);
}

void tm_scenario_free(tm_scenario *scenario) {
    for (size_t i = 0; i < scenario->parts.n; i++)
        free_part((tm_scenario_part *)scenario->parts.data + i);
    tm_vec_free(&scenario->parts);
    tm_vec_free(&scenario->factors);
    free(scenario->text);
    scenario->text = NULL;
}

typedef struct reading {
    const char *option, *text; /* as typed */
    tm_scenario_part *part;
    tm_error *err;
} reading;

static int find_kind(const char *text, size_t size) {
    for (int k = 0; k < TM_N_FIX_KINDS; k++)
        if (strlen(tm_fix_kinds[k].word) == size && memcmp(tm_fix_kinds[k].word, text, size) == 0)
            return k;
    return -1;
}

/* Returns the condition at the start of a text ("rank="); TM_N_CONDITIONS if there is none. */
static int find_condition(const char *text, const char *end) {
    int c = 0;
    for (; c < TM_N_CONDITIONS; c++) {
        size_t size = strlen(tm_condition_words[c]);
        if ((size_t)(end - text) > size && memcmp(tm_condition_words[c], text, size) == 0 &&
            text[size] == '=')
            break;
    }
    return c;
}

/* Returns the end of a condition: the next + that is followed by another condition, or @p end if
 * there is none. */
static const char *find_end(const char *text, const char *end) {
    for (const char *p = text; p < end; p++) {
        const char *next = p + 1 < end ? memchr(p + 1, '+', (size_t)(end - p - 1)) : NULL;
        next = next ? next : end;
        if (*p == '+' && (find_condition(p + 1, end) < TM_N_CONDITIONS ||
                          find_kind(p + 1, (size_t)(next - p - 1)) >= 0))
            return p;
    }
    return end;
}

static tm_status refuse(const reading *r, const char *takes, const char *text) {
    return tm_fail(r->err, TM_ERR_USAGE, NULL, -1, "--%s %s, not '%s'", r->option, takes, text);
}

static tm_status take_list(const reading *r, const char *takes, const char *text, tm_list *out) {
    return tm_list_read(text, out) ? TM_OK : refuse(r, takes, text);
}

static tm_status take_stage(const reading *r, const char *text) {
    tm_list number;
    bool last = strcmp(text, "last") == 0;
    if (!last && (!tm_list_read(text, &number) || number.n != 1 ||
                  number.ranges[0].first != number.ranges[0].last))
        return refuse(r, "stage= takes a number or last", text);
    r->part->stage = last ? TM_STAGE_LAST : number.ranges[0].first;
    return TM_OK;
}

static tm_status take_kind(const reading *r, const char *text) {
    int kind = find_kind(text, strlen(text));
    char takes[160];
    size_t used = (size_t)snprintf(takes, sizeof takes, "kind= takes");
    if (kind < 0) {
        for (int k = 0; k < TM_N_FIX_KINDS; k++)
            used += (size_t)snprintf(takes + used, sizeof takes - used, "%s %s",
                                     k == 0                    ? ""
                                     : k == TM_N_FIX_KINDS - 1 ? " or"
                                                               : ",",
                                     tm_fix_kinds[k].word);
        return refuse(r, takes, text);
    }
    r->part->kind = (uint8_t)kind;
    return TM_OK;
}

static tm_status take_rule(const reading *r, int condition, const char *text, tm_name_rule *out) {
    tm_status status =
        *text ? tm_pattern_compile(text, REG_NOSUB, &out->regex, r->err)
              : refuse(r, "takes a regular expression after kernel= and operator=", "");
    /* an expression that was not compiled must not be kept, because it would be freed later */
    if (status != TM_OK) {
        free(r->part->texts[condition]);
        r->part->texts[condition] = NULL;
    }
    return status;
}

static tm_status take_value(const reading *r, int condition) {
    const char *text = r->part->texts[condition];
    switch ((tm_condition)condition) {
    case TM_CONDITION_RANK:
        return take_list(r, "rank= takes a list such as 0,3,8-15", text, &r->part->ranks);
    case TM_CONDITION_STEP:
        return take_list(r, "step= takes a list such as 0,3,8-15", text, &r->part->steps);
    case TM_CONDITION_STAGE:
        return take_stage(r, text);
    case TM_CONDITION_KIND:
        return take_kind(r, text);
    case TM_CONDITION_KERNEL:
        return take_rule(r, condition, text, &r->part->kernel);
    case TM_CONDITION_OPERATOR:
        return take_rule(r, condition, text, &r->part->operator);
    default:
        return *text ? TM_OK : refuse(r, "host= takes the name of a host", text);
    }
}

static tm_status take_condition(const reading *r, const char *begin, const char *end) {
    int condition = find_condition(begin, end);
    if (condition == TM_N_CONDITIONS && find_kind(begin, (size_t)(end - begin)) >= 0)
        condition = TM_CONDITION_KIND;
    else if (condition < TM_N_CONDITIONS)
        begin += strlen(tm_condition_words[condition]) + 1;
    else
        return refuse(r,
                      "takes rank=, host=, stage=, step=, kind=, kernel= or operator=, or several "
                      "joined by +",
                      r->text);
    if (r->part->texts[condition])
        return tm_fail(r->err, TM_ERR_USAGE, NULL, -1, "--%s %s has %s= twice", r->option, r->text,
                       tm_condition_words[condition]);
    size_t size = (size_t)(end - begin);
    char *text = calloc(size + 1, 1);
    if (!text)
        return tm_fail_memory(r->err);
    memcpy(text, begin, size);
    r->part->texts[condition] = text;
    return take_value(r, condition);
}

/* Parses the factor after the last colon. Sets *end to the colon. */
static tm_status take_factor(const reading *r, const char **end, double *factor) {
    const char *colon = strrchr(r->text, ':');
    char *after = NULL;
    bool digits = colon && colon[1] && strspn(colon + 1, "0123456789.") == strlen(colon + 1);
    *factor = digits ? strtod(colon + 1, &after) : -1.0;
    if (!digits || *after || *factor > FACTOR_MAX)
        return refuse(r, "takes a factor up to 1000 after the last colon, such as rank=3:1.5",
                      r->text);
    *end = colon;
    return TM_OK;
}

/* Appends an option to the scenario's text: "--fix rank=3 --scale kernel=gemm:0.5". */
static bool add_text(tm_scenario *scenario, const char *option, const char *text) {
    size_t used = scenario->text ? strlen(scenario->text) : 0;
    size_t size = used + strlen(option) + strlen(text) + sizeof " -- ";
    char *longer = realloc(scenario->text, size);
    if (!longer)
        return false;
    scenario->text = longer;
    snprintf(longer + used, size - used, "%s--%s %s", used > 0 ? " " : "", option, text);
    return true;
}

tm_status tm_scenario_add(tm_scenario *scenario, const char *option, const char *text,
                          tm_error *err) {
    if (scenario->parts.n == TM_SCENARIO_PARTS_MAX)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "a scenario has at most %d parts",
                       TM_SCENARIO_PARTS_MAX);
    tm_scenario_part *part = tm_vec_push(&scenario->parts);
    double *factor = tm_vec_push(&scenario->factors);
    if (!part || !factor || !add_text(scenario, option, text)) {
        scenario->parts.n -= part != NULL;
        return tm_fail_memory(err);
    }
    *part = (tm_scenario_part){.stage = -1};
    *factor = (double)NAN;
    const reading r = {option, text, part, err};
    const char *end = text + strlen(text), *next;
    if (strcmp(option, "scale") == 0)
        TM_TRY(take_factor(&r, &end, factor));
    for (const char *at = text;; at = next + 1) {
        next = find_end(at, end);
        TM_TRY(take_condition(&r, at, next));
        if (next == end)
            break;
    }
    if (isnan(*factor) && !part->texts[TM_CONDITION_RANK] && !part->texts[TM_CONDITION_HOST] &&
        !part->texts[TM_CONDITION_STAGE])
        *factor = (double)INFINITY;
    return TM_OK;
}

tm_status tm_scenario_bind(tm_scenario *scenario, const tm_names *names, int64_t last_stage,
                           tm_error *err) {
    scenario->names = names;
    scenario->last_stage = last_stage;
    for (size_t i = 0; i < scenario->parts.n; i++) {
        tm_scenario_part *part = (tm_scenario_part *)scenario->parts.data + i;
        part->kernel.known = calloc(tm_names_count(names) + 1, 1);
        part->operator.known = calloc(tm_names_count(names) + 1, 1);
        if (!part->kernel.known || !part->operator.known)
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* A rank, and the part of a scenario that is applied to it. */
typedef struct place {
    const tm_scenario *scenario;
    tm_scenario_part *part;
    const tm_timeline *timeline;
    const tm_graph *graph;
    const uint8_t *inside; /* [n_events] whether the event starts within a selected operator */
    int64_t stage;
} place;

static bool holds_of(const place *p, tm_name_rule *rule, uint32_t name) {
    if (rule->known[name] == 0) {
        const char *text = tm_names_text(p->scenario->names, name).bytes;
        rule->known[name] = regexec(&rule->regex, text, 0, NULL, 0) == 0 ? 2 : 1;
    }
    return rule->known[name] == 2;
}

static void find_inside(const place *p, uint8_t *inside) {
    const tm_timeline *t = p->timeline;
    for (size_t k = 0; k < t->n_tracks; k++) {
        int64_t reach_ns = INT64_MIN;
        const tm_track *track = &t->tracks[k];
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            if (track->kind == TM_TRACK_CPU && t->category[row] == TM_CAT_CPU_OP &&
                t->begin_ns[row] + t->duration_ns[row] > reach_ns &&
                holds_of(p, &p->part->operator, t->name[row]))
                reach_ns = t->begin_ns[row] + t->duration_ns[row];
            inside[row] = t->begin_ns[row] < reach_ns;
        }
    }
}

static bool rank_holds(const place *p, int condition) {
    const tm_scenario_part *part = p->part;
    if (condition == TM_CONDITION_RANK)
        return tm_list_has(&part->ranks, p->timeline->rank);
    if (condition == TM_CONDITION_STAGE)
        return p->stage >= 0 &&
               p->stage == (part->stage == TM_STAGE_LAST ? p->scenario->last_stage : part->stage);
    const uint32_t host = tm_timeline_host(p->timeline);
    return host != TM_NO_NAME && strcmp(tm_names_text(p->scenario->names, host).bytes,
                                        part->texts[TM_CONDITION_HOST]) == 0;
}

static bool is_of_kind(const tm_edge *edge, const tm_fix_kind *kind) {
    return (kind->kinds >> edge->kind & 1) && (kind->flags == 0 || (edge->flags & kind->flags));
}

/* Returns whether an edge of an event or call meets a condition. */
static bool edge_holds(const place *p, int condition, const tm_edge *edge, uint32_t row) {
    const tm_timeline *t = p->timeline;
    if (condition == TM_CONDITION_KIND)
        return is_of_kind(edge, &tm_fix_kinds[p->part->kind]);
    if (row == TM_NO_EVENT || edge->kind == TM_EDGE_BEFORE)
        return false;
    bool on_gpu = t->role[row] != TM_ROLE_NONE;
    if (condition == TM_CONDITION_STEP)
        return t->step[row] != TM_NO_STEP &&
               tm_list_has(&p->part->steps, t->steps[t->step[row]].number);
    if (condition == TM_CONDITION_KERNEL)
        return on_gpu && holds_of(p, &p->part->kernel, t->name[row]);
    uint32_t call = tm_timeline_asked(t, row);
    if (call == TM_NO_EVENT && !on_gpu)
        call = row;
    return call != TM_NO_EVENT && p->inside[call];
}

/* Returns the kinds of edges that a part selects if it names no kind. */
static uint16_t usual_kinds(const tm_scenario_part *part) {
    if (part->texts[TM_CONDITION_KIND])
        return UINT16_MAX;
    bool named = part->texts[TM_CONDITION_KERNEL] || part->texts[TM_CONDITION_OPERATOR];
    return named ? WORK : OF_A_RANK;
}

static bool test_edge(const place *p, const tm_edge *edge, uint32_t row, tm_scenario_found *found) {
    bool all = usual_kinds(p->part) >> edge->kind & 1;
    for (int c = TM_CONDITION_STEP; c < TM_N_CONDITIONS; c++) {
        if (!p->part->texts[c])
            continue;
        bool is = edge_holds(p, c, edge, row);
        found->alone[c] += is;
        all = all && is;
    }
    return all;
}

static void mark_part(const place *p, uint8_t part, tm_graph *graph, tm_scenario_found *found) {
    bool here = true;
    for (int c = 0; c < TM_CONDITION_STEP; c++) {
        bool is = !p->part->texts[c] || rank_holds(p, c);
        found->alone[c] += is;
        here = here && is;
    }
    for (uint32_t v = 0; v < graph->n_nodes; v++)
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const tm_edge *edge = &graph->edges[e];
            if (!test_edge(p, edge, tm_graph_event_of(graph, v, edge), found) || !here)
                continue;
            graph->fixes[e] = part;
            found->edges++;
        }
}

tm_status tm_scenario_mark(tm_scenario *scenario, const tm_timeline *timeline, int64_t stage,
                           tm_graph *graph, tm_scenario_found *found, tm_error *err) {
    uint8_t *inside = calloc(timeline->n_events + 1, 1);
    if (!graph->fixes)
        graph->fixes = calloc((size_t)graph->first[graph->n_nodes] + 1, 1);
    const bool ok = inside && graph->fixes;
    for (size_t i = 0; i < scenario->parts.n && ok; i++) {
        place p = {.scenario = scenario,
                   .part = (tm_scenario_part *)scenario->parts.data + i,
                   .timeline = timeline,
                   .graph = graph,
                   .inside = inside,
                   .stage = stage};
        if (p.part->texts[TM_CONDITION_OPERATOR])
            find_inside(&p, inside);
        mark_part(&p, (uint8_t)(i + 1), graph, &found[i]);
    }
    free(inside);
    return ok ? TM_OK : tm_fail_memory(err);
}

uint32_t tm_scenario_kinds(const tm_graph *graph) {
    uint32_t kinds = 0;
    for (size_t e = 0; graph->n_nodes > 0 && e < graph->first[graph->n_nodes]; e++)
        for (int k = 0; k < TM_N_FIX_KINDS; k++)
            kinds |= (uint32_t)is_of_kind(&graph->edges[e], &tm_fix_kinds[k]) << k;
    return kinds;
}
