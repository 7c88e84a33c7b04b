/* Rank and size of this process, from the environment of each launcher. The variables of mpirun and
 * srun are those that Open MPI 4.1.4 and Slurm 22.05 set. */
#include "base/launcher_env.h"

#define STEP(rank, node) "SLURM_PROCID=" rank, "SLURM_STEP_NUM_TASKS=3", "SLURM_NODEID=" node
#define ON_TWO "SLURM_STEP_TASKS_PER_NODE=2,1", "SLURM_STEP_NUM_NODES=2", "SLURM_NTASKS=9"

TEST(an_environment_tells_the_place) {
    static const struct {
        const char *environment[10];
        const char *place; /* launcher, rank/size, number on node, "alone" or "node" (one node) */
    } cases[] = {
        {{"HOME=/", "PATH=/bin"}, "none 0/1 1 alone node"},
        /* mpirun: one process; one node; several nodes */
        {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_LOCAL_SIZE=1",
          "PMIX_RANK=0", "PMIX_NAMESPACE=1111097345"},
         "mpirun 0/1 1 alone node"},
        {{"PMIX_RANK=3", "PMIX_NAMESPACE=1111097345", "OMPI_COMM_WORLD_RANK=3",
          "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=4"},
         "mpirun 3/4 4 node"},
        {{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=2"},
         "mpirun 3/4 2"},
        {{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4"}, "mpirun 3/4 0"},
        /* srun --mpi=pmix: two processes on the first node, one on the second */
        {{"PMIX_RANK=1", "PMIX_NAMESPACE=slurm.pmix.2.0", STEP("1", "0"), ON_TWO}, "pmix 1/3 2"},
        {{"PMIX_RANK=2", "PMIX_NAMESPACE=slurm.pmix.2.0", STEP("2", "1"), ON_TWO}, "pmix 2/3 1"},
        {{"PMIX_RANK=2", "PMIX_NAMESPACE=slurm.pmix.2.0", STEP("2", "0"),
          "SLURM_STEP_TASKS_PER_NODE=3"},
         "pmix 2/3 3 node"},
        {{"PMIX_RANK=0", "PMIX_NAMESPACE=slurm.pmix.2.0", "SLURM_STEP_NUM_TASKS=1"},
         "pmix 0/1 0 alone"},
        /* PMIx that does not give the size */
        {{"PMIX_RANK=2", "PMIX_NAMESPACE=prterun-h1"}, "pmix 2/0 0"},
        {{"PMIX_RANK=2"}, "none 0/1 1 alone node"},
        /* PMI2 of Slurm, PMI of MPICH's mpiexec */
        {{"PMI_RANK=2", "PMI_SIZE=3", STEP("2", "1"), ON_TWO}, "pmi 2/3 1"},
        {{"PMI_RANK=2", "PMI_SIZE=3", "MPI_LOCALNRANKS=3", "MPI_LOCALRANKID=2"}, "pmi 2/3 3 node"},
        /* srun --mpi=none */
        {{STEP("2", "1"), ON_TWO}, "slurm 2/3 1"},
        {{"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1", "SLURM_NODEID=0",
          "SLURM_STEP_TASKS_PER_NODE=1"},
         "slurm 0/1 1 alone node"},
        /* a batch script that srun did not start; then mpirun inside it */
        {{"SLURM_PROCID=0", "SLURM_NTASKS=6", "SLURM_TASKS_PER_NODE=2(x3)", "SLURM_NODEID=0"},
         "none 0/1 1 alone node"},
        {{"SLURM_PROCID=0", "SLURM_NTASKS=6", "SLURM_NODEID=0", "OMPI_COMM_WORLD_RANK=5",
          "OMPI_COMM_WORLD_SIZE=6", "OMPI_COMM_WORLD_LOCAL_SIZE=2"},
         "mpirun 5/6 2"},
        /* mpirun started by srun, and srun by mpirun: the outer variables do not count */
        {{"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1", "PMIX_NAMESPACE=1111097345", "PMIX_RANK=1",
          "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_SIZE=2"},
         "mpirun 1/2 2 node"},
        {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_LOCAL_SIZE=1",
          "PMIX_RANK=2", "PMIX_NAMESPACE=slurm.pmix.2.0", STEP("2", "1")},
         "pmix 2/3 0"},
        /* Slurm's notation for tasks per node */
        {{STEP("2", "4"), "SLURM_STEP_TASKS_PER_NODE=2(x3),1,3(x2)"}, "slurm 2/3 3 node"},
        {{STEP("2", "3"), "SLURM_STEP_TASKS_PER_NODE=2(x3),1,3(x2)"}, "slurm 2/3 1"},
        {{STEP("2", "6"), "SLURM_STEP_TASKS_PER_NODE=2(x3),1,3(x2)"}, "slurm 2/3 0"},
        {{STEP("2", "0"), "SLURM_STEP_TASKS_PER_NODE=2(x"}, "slurm 2/3 0"},
        {{STEP("2", "0"), "SLURM_STEP_TASKS_PER_NODE=many"}, "slurm 2/3 0"},
        /* invalid places are ignored */
        {{"OMPI_COMM_WORLD_RANK=4", "OMPI_COMM_WORLD_SIZE=4"}, "none 0/1 1 alone node"},
        {{"OMPI_COMM_WORLD_RANK=-1", "OMPI_COMM_WORLD_SIZE=4"}, "none 0/1 1 alone node"},
        {{"OMPI_COMM_WORLD_RANK=", "OMPI_COMM_WORLD_SIZE="}, "none 0/1 1 alone node"},
        {{"PMI_RANK=0x1", "PMI_SIZE=3"}, "none 0/1 1 alone node"},
        {{"PMI_RANK=99999999999999999999", "PMI_SIZE=3"}, "none 0/1 1 alone node"},
    };
    static const char *const launchers[] = {[TM_LAUNCHER_NONE] = "none",
                                            [TM_LAUNCHER_OPENMPI] = "mpirun",
                                            [TM_LAUNCHER_PMIX] = "pmix",
                                            [TM_LAUNCHER_PMI] = "pmi",
                                            [TM_LAUNCHER_SLURM] = "slurm"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_launcher_env place = tm_launcher_env_read(cases[i].environment);
        char found[64];
        snprintf(found, sizeof found, "%s %d/%d %d%s%s", launchers[place.launcher], place.rank,
                 place.size, place.local_size, tm_launcher_env_is_alone(&place) ? " alone" : "",
                 tm_launcher_env_is_one_node(&place) ? " node" : "");
        if (strcmp(found, cases[i].place) != 0)
            fail_msg("case %zu (%s ...): %s", i, cases[i].environment[0], found);
    }
}

TEST(variables_of_launchers_are_known) {
    static const struct {
        const char *variable;
        bool is;
    } cases[] = {
        {"PMIX_RANK=0", true},
        {"PMI_FD=11", true},
        {"SLURM_STEPID=0", true},
        {"OMPI_COMM_WORLD_SIZE=1", true},
        {"OMPI_MCA_ess=^singleton", true},
        {"OMPI_MCA_pmix=^s1", true},
        {"OMPI_MCA_orte_launch=1", true},
        {"OMPI_MCA_btl=self", false},
        {"OMPI_ALLOW_RUN_AS_ROOT=1", false},
        {"HOME=/PMIX_", false},
        {"RANK=3", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(tm_launcher_env_has(cases[i].variable), cases[i].is);
}

RUN_TESTS()
