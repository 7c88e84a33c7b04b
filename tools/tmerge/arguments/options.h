/* Options that several commands have. --help is not among them, because every command has it. */
#ifndef TMERGE_OPTIONS_H
#define TMERGE_OPTIONS_H

#define TM_OPTION(...)                                                                             \
    { __VA_ARGS__ }

#define TM_OPTION_RANK TM_OPTION("rank", 0, "LIST", "only these ranks, such as 0,3,8-15")
#define TM_OPTION_COLOR TM_OPTION("color", 0, "WHEN", "auto, always or never")

/* Options of tm_pipeline_run for numbers that traces do not contain. */
#define TM_OPTIONS_RATES(also)                                                                     \
    TM_OPTION(                                                                                     \
        "samples-per-step", 0, "N",                                                                \
        "samples that the whole job processes in a step, to compute samples per second" also),     \
        TM_OPTION("tokens-per-step", 0, "N",                                                       \
                  "tokens that the whole job processes in a step, to compute tokens per second")

/* Options of tm_pipeline_run about clocks. */
#define TM_OPTIONS_CLOCKS                                                                          \
    TM_OPTION("align", 0, "HOW",                                                                   \
              "how clocks are aligned: auto (by the ends of collectives), utc (as recorded), or "  \
              "none (ranks are not compared)"),                                                    \
        TM_OPTION("wall-uncertainty", 0, "TIME", "by how much hosts' clocks may differ (5ms)"),    \
        TM_OPTION("host-map", 0, "FILE", "file with lines RANK HOST: the host of each rank")

#define TM_OPTION_FORCE(also)                                                                      \
    TM_OPTION("force", 0, NULL, "overwrite the output even if it is not a tmerge store" also)

#define TM_OPTION_JOBS                                                                             \
    TM_OPTION("jobs", 'j', "N",                                                                    \
              "number of processes if mpirun is not used (default: one per core, or fewer if "     \
              "more do not help); 1: only this process")

#define TM_OPTION_MEMORY                                                                           \
    TM_OPTION("memory", 0, "SIZE",                                                                 \
              "memory of each process, such as 8G; larger data goes to temporary files in the "    \
              "folder of the store (default: three quarters of the memory of the host or batch "   \
              "job, divided by its processes)")

/* Options of tm_pipeline_run about the store and about progress. */
#define TM_OPTIONS_STORE                                                                           \
    TM_OPTION_JOBS,                                                                                \
        TM_OPTION("no-compress", 0, NULL, "do not compress the store: larger and faster"),         \
        TM_OPTION("no-replay", 0, NULL,                                                            \
                  "leave out whatif and the critical path, which take most of the memory"),        \
        TM_OPTION_MEMORY, TM_OPTION("quiet", 'q', NULL, "show no progress"),                       \
        TM_OPTION("strict", 0, NULL,                                                               \
                  "exit with status 3 if figures could be off because of missing records"),        \
        TM_OPTION("times", 0, NULL, "print how long each phase took, and the peak memory"),        \
        TM_OPTION("progress", 0, "WHEN", "auto (on a terminal), always or never"), TM_OPTION_COLOR

#endif
