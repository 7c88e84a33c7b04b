/* tmerge: finds the subcommand, runs it, and turns its status into the exit status. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "about/about.h"
#include "about/help.h"
#include "arguments/command.h"
#include "launch/launch.h"
#include "launch/signals.h"
#include "liveness/liveness.h"
#include "mpi/exchange/agree.h"
#include "output/console.h"
#include "tmerge/store.h"

static bool asks(int argc, char **argv, const char *option) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], option) == 0)
            return true;
    return false;
}

/* Checks the limit on address space (ulimit -v). Below the required size, MPI and HDF5 crash, or
 * exit with their own status and message. */
static tm_status check_memory(tm_error *err) {
    enum { LEAST_MIB = 256 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur >> 20 >= LEAST_MIB)
        return TM_OK;
    (void)tm_fail(err, TM_ERR_FAULT, NULL, -1,
                  "memory is limited to %lld MiB (ulimit -v); tmerge needs %d",
                  (long long)(limit.rlim_cur >> 20), LEAST_MIB);
    if (tm_launch_has_hosts()) /* MPI has not started, so every process prints this message; the
                                  host's name distinguishes them */
        (void)gethostname(err->host, sizeof err->host - 1);
    return TM_ERR_FAULT;
}

/* Returns whether @p mine is true on all processes. It may differ, because the hosts may have
 * different files. */
static bool say_all(bool mine) {
    bool one =
        tm_launcher_env_is_alone(tm_launch_place()) || tm_mpi_is_one(MPI_COMM_WORLD, mine, true);
    return one && mine;
}

static tm_status run_command(int argc, char **argv, tm_error *err) {
    const tm_command *command = tm_help_find(argv[1]);
    int skip = command ? 2 : 1;
    if (asks(argc, argv, "--help")) {
        if (tm_console_speaks())
            tm_help_command(command ? command : &tm_command_merge);
        return TM_OK;
    }
    if (!command && say_all(tm_help_is_asked(argc - 1, argv + 1)))
        return tm_help_answer(argc - 1, argv + 1, err);
    command = command ? command : &tm_command_merge;
    tm_arguments arguments;
    char **typed = calloc((size_t)argc, sizeof *typed);
    if (!typed)
        return tm_fail_memory(err);
    memcpy(typed, argv + 1, (size_t)(argc - 1) * sizeof *typed);
    tm_status status = tm_arguments_parse(command, argc - skip, argv + skip, &arguments, err);
    arguments.typed = typed;
    arguments.n_typed = (size_t)(argc - 1);
    if (status == TM_OK)
        status = command->run(&arguments, err);
    free(typed);
    return status;
}

/* Answers requests about the program itself, such as --help. Returns false if the arguments are a
 * command instead. */
static bool answer(int argc, char **argv, tm_status *status, tm_error *err) {
    bool help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    *status = TM_OK;
    if (help || (argc >= 2 && strcmp(argv[1], "help") == 0)) {
        *status = tm_help_print(argc - 2, argv + 2, err);
        return true;
    }
    return argc == 2 && tm_about(argv[1], status, err);
}

/* Reports an error. Process 0 must report before any process exits, because mpirun may end the
 * others when one exits with an error. With MPI, the processes agree on the error of the lowest
 * process that failed, and MPI_Finalize waits until it is reported. */
static void speak(const tm_error *err) {
    int started = 0;
    MPI_Initialized(&started);
    if (!started)
        tm_signals_let_first_speak();
    if (tm_console_speaks() || (!started && tm_launch_place()->launcher == TM_LAUNCHER_OPENMPI))
        tm_console_error(err);
}

static tm_status flush_output(tm_status status, tm_error *err) {
    /* Also checks ferror, because fflush does not report that an earlier flush failed. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == TM_OK)
        return tm_fail(err, TM_ERR_OUTPUT, NULL, -1, "standard output could not be written");
    return status;
}

/* Runs the command. Several processes agree on one status. */
static tm_status run_all(int argc, char **argv, tm_error *err) {
    tm_status answered;
    if (answer(argc, argv, &answered, err))
        return flush_output(answered, err);
    TM_TRY(check_memory(err));
    TM_TRY(tm_store_start(err));
    if (!tm_launcher_env_is_alone(tm_launch_place()))
        TM_TRY(tm_launch_mpi(err));
    if (argc < 2) {
        if (tm_console_speaks())
            tm_help_usage(stderr);
        return TM_ERR_USAGE;
    }
    tm_status status = flush_output(run_command(argc, argv, err), err);
    return tm_launcher_env_is_alone(tm_launch_place()) ? status
                                                       : tm_mpi_agree(MPI_COMM_WORLD, status, err);
}

int main(int argc, char **argv) {
    tm_error err = {.status = TM_OK};
    int started = 0;
    tm_launch_begin();
    tm_signals_prepare();
    err.status = run_all(argc, argv, &err);
    if (err.status != TM_OK && err.message[0] != '\0') /* else already reported */
        speak(&err);
    /* A process that exits with an error makes mpirun end the other processes. The monitor stops
     * before that: it would report them as lost, and replace the agreed status. */
    if (err.status != TM_OK)
        tm_liveness_end();
    MPI_Initialized(&started);
    if (started)
        MPI_Finalize();
    tm_liveness_end();
    return (int)err.status;
}
