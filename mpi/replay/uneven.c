#include "uneven.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/sums.h"
#include "rank_graphs.h"

static const double UNEVEN = 0.01;

TM_ORDER_BY(by_step, tm_step_work, step);

bool tm_step_works_add(const tm_timeline *timeline, tm_vec *works) {
    const size_t n = timeline->n_steps, before = works->n;
    bool ok = true;
    for (size_t k = 0; k < n && ok; k++) {
        const tm_step_work none = {.step = timeline->steps[k].number, .n = 1};
        ok = tm_vec_append(works, &none, 1) != NULL;
    }
    tm_step_work *own = (tm_step_work *)works->data + before;
    for (size_t row = 0; row < timeline->n_events && n > 0 && ok; row++)
        if (timeline->role[row] == TM_ROLE_COMPUTE && timeline->step[row] != TM_NO_STEP)
            own[timeline->step[row]].sum_ns += timeline->duration_ns[row];
    for (size_t k = 0; k < n && ok; k++)
        own[k].most_ns = own[k].sum_ns;
    return ok;
}

/* Makes one row of all rows of a step. */
static void merge(tm_vec *works) {
    tm_step_work *v = works->data;
    size_t kept = 0;
    tm_vec_sort(works, by_step);
    for (size_t i = 0; i < works->n; i++) {
        if (kept == 0 || v[kept - 1].step != v[i].step) {
            v[kept++] = v[i];
            continue;
        }
        tm_step_work *into = &v[kept - 1];
        into->n += v[i].n;
        into->sum_ns = tm_sum(into->sum_ns, v[i].sum_ns);
        into->most_ns = v[i].most_ns > into->most_ns ? v[i].most_ns : into->most_ns;
    }
    works->n = kept;
}

tm_status tm_mpi_works_uneven(MPI_Comm comm, tm_vec *works, bool *uneven, tm_error *err) {
    tm_vec all = TM_VEC(tm_step_work);
    double most = 0.0, mean = 0.0;
    merge(works);
    TM_TRY(tm_replay_share(comm, works, &all, err));
    merge(&all);
    const tm_step_work *v = all.data;
    for (size_t i = 0; i < all.n; i++) {
        most += (double)v[i].most_ns;
        mean += (double)v[i].sum_ns / (double)v[i].n;
    }
    *uneven = most > (1.0 + UNEVEN) * mean;
    tm_vec_free(&all);
    return TM_OK;
}
