#include "lead_in.h"

uint32_t tm_lead_in_behind(const tm_draft *draft) {
    const tm_part_event *events = draft->events.data;
    uint32_t found = TM_NO_PART;
    for (uint32_t i = 0; i < draft->events.n; i++)
        if (events[i].step != TM_NO_STEP &&
            (found == TM_NO_PART || events[i].step < events[found].step))
            found = i;
    return found;
}

bool tm_lead_in_has(const tm_draft *draft, const tm_part_event *event) {
    const tm_timeline *t = draft->timeline;
    uint32_t launch = t->launch[event->row];
    return event->step == TM_NO_STEP && t->n_steps > 0 &&
           t->begin_ns[launch == TM_NO_EVENT ? event->row : launch] < t->steps[0].begin_ns;
}

tm_lead_in tm_lead_in_of(const tm_draft *draft) {
    const tm_timeline *t = draft->timeline;
    const tm_part_event *events = draft->events.data;
    uint32_t behind = tm_lead_in_behind(draft);
    tm_lead_in out = {.step = INT64_MAX};
    if (behind == TM_NO_PART)
        return out;
    out.step = t->steps[events[behind].step].number;
    for (size_t i = 0; i < draft->events.n; i++) {
        if (!tm_lead_in_has(draft, &events[i]))
            continue;
        out.any = true;
        out.joined = out.joined || t->begin_ns[events[i].row] + t->duration_ns[events[i].row] >
                                       t->steps[0].begin_ns;
    }
    return out;
}
