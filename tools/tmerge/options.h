/* Options shared by several commands. --help is not listed, because all commands have it. */
#ifndef TMERGE_OPTIONS_H
#define TMERGE_OPTIONS_H

#define TM_OPTION(...)                                                                             \
    { __VA_ARGS__ }

#define TM_OPTION_RANK TM_OPTION("rank", 0, "LIST", "only these ranks, such as 0,3,8-15")
#define TM_OPTION_COLOR TM_OPTION("color", 0, "WHEN", "auto, always or never")

/* Options of tm_pipeline_run: sizes that traces do not contain. */
#define TM_OPTIONS_RATES(also)                                                                     \
    TM_OPTION("samples-per-step", 0, "N",                                                          \
              "samples that the whole job processes in a step: for samples a second" also),        \
        TM_OPTION("tokens-per-step", 0, "N", "the same for tokens")

/* Options of tm_pipeline_run: comparing times between ranks. */
#define TM_OPTIONS_CLOCKS                                                                          \
    TM_OPTION("align", 0, "HOW",                                                                   \
              "clocks: auto (from the ends of collectives), utc (as recorded), or none for no "    \
              "number between ranks"),                                                             \
        TM_OPTION("wall-uncertainty", 0, "TIME", "how far off hosts' clocks may be set (5ms)"),    \
        TM_OPTION("host-map", 0, "FILE", "lines RANK HOST: which host a rank ran on")

#define TM_OPTION_FORCE(also)                                                                      \
    TM_OPTION("force", 0, NULL, "overwrite the output even if it is not a tmerge store" also)

#define TM_OPTION_JOBS                                                                             \
    TM_OPTION(                                                                                     \
        "jobs", 'j', "N",                                                                          \
        "processes, without mpirun (one for each core, as far as that pays); 1: only this one")

#define TM_OPTION_MEMORY                                                                           \
    TM_OPTION("memory", 0, "SIZE",                                                                 \
              "memory of each process, such as 8G; what does not fit goes to temporary files "     \
              "beside the store (three quarters of what the host or the batch job allows, shared " \
              "by its processes)")

/* Options of tm_pipeline_run: how the store is written, and what is reported meanwhile. */
#define TM_OPTIONS_STORE                                                                           \
    TM_OPTION_JOBS,                                                                                \
        TM_OPTION("no-compress", 0, NULL, "do not compress the store: larger and faster"),         \
        TM_OPTION("no-replay", 0, NULL,                                                            \
                  "no whatif and no critical path, which take most of the memory"),                \
        TM_OPTION_MEMORY, TM_OPTION("quiet", 'q', NULL, "show no progress"),                       \
        TM_OPTION("strict", 0, NULL,                                                               \
                  "status 3 if figures could be off because of what was not recorded"),            \
        TM_OPTION("times", 0, NULL, "say how long each phase took"),                               \
        TM_OPTION("progress", 0, "WHEN", "auto (on a terminal), always or never"), TM_OPTION_COLOR

#endif
