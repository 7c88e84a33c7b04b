#include "ascend_db_groups.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "tmerge/timeline.h"

/* More groups than any real rank has. */
enum { GROUPS_MAX = 1 << 16 };

bool tm_ascend_db_holds_all(const tm_ascend_db_group *group, const tm_names *names) {
    return strcmp(tm_names_text(names, group->description).bytes, "default_group") == 0;
}

static bool add_group(const cJSON *item, tm_names *names, tm_vec *out) {
    const cJSON *ranks = cJSON_GetObjectItemCaseSensitive(item, "global_ranks");
    int n_ranks = cJSON_IsArray(ranks) ? cJSON_GetArraySize(ranks) : 0;
    if (n_ranks <= 0 || n_ranks > TM_GROUP_RANKS_MAX)
        return true;
    const tm_ascend_db_group added = {
        .name = tm_names_intern_string(names, item->string),
        .description = tm_names_intern_string(
            names, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "group_name"))),
        .n_ranks = n_ranks};
    return added.name != TM_NAME_FAILED && added.description != TM_NAME_FAILED &&
           tm_vec_append(out, &added, 1);
}

tm_status tm_ascend_db_read_groups(tm_text json, tm_names *names, tm_vec *out, tm_error *err) {
    cJSON *all = cJSON_ParseWithLength(json.bytes, json.size);
    bool ok = true;
    for (const cJSON *item = cJSON_IsObject(all) ? all->child : NULL;
         item && ok && out->n < GROUPS_MAX; item = item->next)
        ok = add_group(item, names, out);
    cJSON_Delete(all);
    return ok ? TM_OK : tm_fail_memory(err);
}

const tm_ascend_db_group *tm_ascend_db_group_of(const tm_vec *groups, uint32_t name) {
    const tm_ascend_db_group *v = groups->data;
    for (size_t i = 0; i < groups->n; i++)
        if (v[i].name == name)
            return &v[i];
    return NULL;
}
