#include "result.h"

const tm_fix_kind tm_fix_kinds[TM_N_FIX_KINDS] = {
#define TM_FIX_KIND(word, kinds, flags) {word, (uint16_t)(kinds), flags},
    TM_FIX_KIND_LIST(TM_FIX_KIND)
#undef TM_FIX_KIND
};

void tm_replay_result_init(tm_replay_result *result) {
    *result = (tm_replay_result){.base = TM_TIMEBASE(INT64_MAX),
                                 .path_steps = TM_VEC(tm_path_step),
                                 .pieces = TM_VEC(tm_path_piece),
                                 .whole = TM_VEC(tm_path_piece),
                                 .extras = TM_VEC(tm_extra_row),
                                 .stages = TM_VEC(tm_split_stage),
                                 .network = TM_LINKS(),
                                 .items = TM_VEC(tm_whatif_item),
                                 .steps = TM_VEC(tm_whatif_step),
                                 .ranks = TM_VEC(tm_whatif_rank),
                                 .slacks = TM_VEC(tm_slack_run)};
}

void tm_replay_result_free(tm_replay_result *result) {
    tm_timebase_free(&result->base);
    TM_VECS_FREE(&result->path_steps, &result->pieces, &result->whole, &result->extras,
                 &result->stages);
    tm_links_free(&result->network);
    TM_VECS_FREE(&result->items, &result->steps, &result->ranks, &result->slacks);
    tm_works_free(&result->works);
}
