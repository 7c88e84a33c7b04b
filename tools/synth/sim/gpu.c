/* Runs the tasks of the streams, and makes streams wait for each other. */
#include "gpu.h"

static int64_t max_ns(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void work(tms_sim *sim, const tms_task *task) {
    int64_t begin_ns = max_ns(task->reached_ns, sim->compute_free_ns + task->gap_ns);

    sim->events->items[task->index].begin_ns = begin_ns;
    sim->compute_free_ns = begin_ns + task->duration_ns;
    if (sim->gpu_begin_ns == 0) {
        sim->gpu_begin_ns = begin_ns;
    }
}

/* Starts a collective's kernel after the previous kernel on its stream, whose end must be known. */
static bool arrive(tms_sim *sim, const tms_task *task, const tms_network *network) {
    tms_comm *comm = &sim->comms[task->index];
    int64_t free_ns = sim->comm_free_ns[comm->role];

    if (comm->previous != 0) {
        tms_comm *previous = &sim->comms[comm->previous - 1];

        if (!network->ended(network->context, sim, previous)) {
            return false;
        }
        free_ns = previous->end_ns;
    }
    network->arrive(network->context, sim, comm,
                    max_ns(task->reached_ns, sim->compute_free_ns + task->gap_ns), free_ns);
    return true;
}

/* Runs a task. Returns false if the task has to wait. */
static bool run(tms_sim *sim, const tms_task *task, const tms_network *network) {
    tms_comm *comm;

    if (task->kind == TMS_DO_WORK) {
        work(sim, task);
        return true;
    }
    if (task->kind == TMS_DO_ARRIVE) {
        return arrive(sim, task, network);
    }
    comm = &sim->comms[task->index];
    if (!network->ended(network->context, sim, comm)) {
        return false;
    }
    if (task->kind == TMS_DO_WAIT) {
        sim->compute_free_ns = max_ns(sim->compute_free_ns, comm->end_ns);
    } else {
        sim->comm_free_ns[comm->role] = comm->end_ns;
    }
    return true;
}

bool tms_gpu_advance(tms_sim *sim, const tms_network *network) {
    while (sim->next_task < sim->n_tasks && run(sim, &sim->tasks[sim->next_task], network)) {
        sim->next_task++;
    }
    return sim->next_task == sim->n_tasks;
}
