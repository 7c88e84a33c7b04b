#include "table/renamed.h"

#include <string.h>

/* The former names. If several former tables are now levels of one table, their entries are in the
 * order of these levels. */
const tm_renamed tm_renames[] = {
    {"modules", "calls", NULL, NULL},
    {"operators", "calls", NULL, NULL},
    {"stacks", "calls", NULL, NULL},
    {"modules.annotation", "calls.call", "annotation", NULL},
    {"modules.module", "calls.call", "module", NULL},
    {"operators.op", "calls.call", "operator", NULL},
    {"operators.shape", "calls.call", "shape", NULL},
    {"stacks.frame", "calls.tree", "function", NULL},
    {"modules.tree", "calls.tree", "module", NULL},
    {"operators.tree", "calls.tree", "operator", NULL},
    {"classes.kernel", "classes.work", "class", NULL},
    {"classes.rank", "classes.work", "rank", NULL},
    {"efficiency.kernel", "efficiency.work", "kernel", "kernel"},
    {"efficiency.operator", "efficiency.work", "operator", "operator"},
    {"efficiency.place", "efficiency.work", "place", "inside"},
    {"framework.operator", "framework.work", "operator", NULL},
    {"framework.type", "framework.work", "type", NULL},
    {"hlo.category", "hlo.work", "category", NULL},
    {"hlo.op", "hlo.work", "op", NULL},
    {"hlo.program", "hlo.work", "program", NULL},
    {"host.address", "host.unified_memory", "address", NULL},
    {"host.unified", "host.unified_memory", "rank", NULL},
    {"kernels.launcher", "kernels.launched", "kernel", NULL},
    {"operators.kernel", "kernels.launched", "operator", NULL},
    {"memory.category_curve", "memory.curve", NULL, NULL},
    {"memory.module", "memory.owner", "module", "module"},
    {"memory.operator", "memory.owner", "operator", "operator"},
    {"ratio", "overlap", NULL, NULL},
    {"ratio.rank", "overlap.rank", NULL, NULL},
    {"ratio.step", "overlap.step", NULL, NULL},
};

const size_t tm_n_renames = sizeof tm_renames / sizeof *tm_renames;

const tm_renamed *tm_renamed_find(const char *text) {
    for (size_t i = 0; i < tm_n_renames; i++)
        if (tm_table_is_named(&(tm_table_def){.name = tm_renames[i].was}, text))
            return &tm_renames[i];
    return NULL;
}

const char *tm_renamed_column(const tm_renamed *renamed, const char *present) {
    return renamed->name_was && strcmp(present, "name") == 0 ? renamed->name_was : present;
}

static const tm_former_column former_columns[] = {
    {"hang.job", "ranks_reported", "ranks_known"}, {"hlo.rank", "reported_pct", "known_pct"},
    {"hlo.work", "reported_pct", "known_pct"},     {"whatif.job", "mend_ns", "fix_ns"},
    {"whatif.job", "mend_pct", "fix_pct"},
};

const tm_former_column *tm_former_column_of(const tm_table_def *def, int i) {
    for (size_t c = 0; c < sizeof former_columns / sizeof *former_columns; c++)
        if (strcmp(former_columns[c].table, def->name) == 0 && i-- == 0)
            return &former_columns[c];
    return NULL;
}
