#include "launcher_env.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_THERE = -1, NUMBER_MAX = 100000000 };

static const char *value_of(const char *const *environment, const char *name) {
    size_t size = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=')
            return *environment + size + 1;
    return NULL;
}

/* Returns the number at the start of a text and advances the text past it. */
static int take_number(const char **text) {
    char *end;
    if (**text < '0' || **text > '9')
        return NOT_THERE;
    long value = strtol(*text, &end, 10);
    *text = end;
    return value <= NUMBER_MAX ? (int)value : NOT_THERE;
}

static int number_of(const char *const *environment, const char *name) {
    const char *text = value_of(environment, name);
    int value = text ? take_number(&text) : NOT_THERE;
    return text && *text == '\0' ? value : NOT_THERE;
}

/* Returns the number of tasks on a node, from a list that Slurm writes. Example: "2(x3),1" means
 * two tasks on each of three nodes, and one task on the next node. Returns 0 if the number is
 * unknown. */
static int of_node(const char *text, int node) {
    while (text && *text && node >= 0) {
        int tasks = take_number(&text), nodes = 1;
        if (tasks > 0 && strncmp(text, "(x", 2) == 0) {
            text += 2;
            nodes = take_number(&text);
            text += *text == ')';
        }
        if (tasks <= 0 || nodes <= 0 || (*text != ',' && *text != '\0'))
            return 0;
        if (node < nodes)
            return tasks;
        node -= nodes;
        text += *text == ',';
    }
    return 0;
}

static int local_of_slurm(const char *const *environment) {
    return of_node(value_of(environment, "SLURM_STEP_TASKS_PER_NODE"),
                   number_of(environment, "SLURM_NODEID"));
}

/* Takes rank and number of processes from the variables of a launcher. Returns false if they are
 * missing or invalid. */
static bool take(const char *const *environment, tm_launcher launcher, const char *rank,
                 const char *size, tm_launcher_env *out) {
    tm_launcher_env env = {launcher, number_of(environment, rank), number_of(environment, size), 0};
    if (env.rank == NOT_THERE || (env.size != NOT_THERE && env.rank >= env.size))
        return false;
    env.size = env.size == NOT_THERE ? 0 : env.size;
    *out = env;
    return true;
}

/* Determines the launcher. Processes inherit the variables of outer launchers, so the order of the
 * checks matters. Slurm's own PMIx is checked first, and is recognised by its namespace. mpirun
 * follows, because it is often started by srun or in a batch job. */
tm_launcher_env tm_launcher_env_read(const char *const *environment) {
    tm_launcher_env env = {TM_LAUNCHER_NONE, 0, 1, 1};
    const char *namespace = value_of(environment, "PMIX_NAMESPACE");
    bool is_step = value_of(environment, "SLURM_STEP_NUM_TASKS") != NULL;
    bool of_slurm = namespace && strncmp(namespace, "slurm.", 6) == 0 && is_step;
    if (!of_slurm && value_of(environment, "OMPI_COMM_WORLD_SIZE") &&
        take(environment, TM_LAUNCHER_OPENMPI, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
             &env)) {
        int local = number_of(environment, "OMPI_COMM_WORLD_LOCAL_SIZE");
        env.local_size = local == NOT_THERE ? 0 : local;
    } else if (namespace && take(environment, TM_LAUNCHER_PMIX, "PMIX_RANK",
                                 of_slurm ? "SLURM_STEP_NUM_TASKS" : "", &env)) {
        env.local_size = of_slurm ? local_of_slurm(environment) : 0;
    } else if (value_of(environment, "PMI_SIZE") &&
               take(environment, TM_LAUNCHER_PMI, "PMI_RANK", "PMI_SIZE", &env)) {
        int local = number_of(environment, "MPI_LOCALNRANKS");
        env.local_size = local == NOT_THERE ? local_of_slurm(environment) : local;
    } else if (is_step &&
               take(environment, TM_LAUNCHER_SLURM, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", &env)) {
        env.local_size = local_of_slurm(environment);
    }
    return env;
}

bool tm_launcher_env_is_alone(const tm_launcher_env *env) {
    return env->size == 1;
}

bool tm_launcher_env_is_one_node(const tm_launcher_env *env) {
    return env->size > 0 && env->local_size == env->size;
}

bool tm_launcher_env_has(const char *variable) {
    static const char *const beginnings[] = {
        "PMIX_",          "PMI_",         "SLURM_",        "OMPI_COMM_WORLD_",
        "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix",
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}
