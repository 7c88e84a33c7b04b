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
              "samples that the whole job takes in a step: for samples a second" also),            \
        TM_OPTION("tokens-per-step", 0, "N", "likewise tokens")

/* Options of tm_pipeline_run: comparing times between ranks. */
#define TM_OPTIONS_CLOCKS                                                                          \
    TM_OPTION("align", 0, "HOW",                                                                   \
              "clocks: auto (from the ends of collectives), utc (as recorded), or none for no "    \
              "number between ranks"),                                                             \
        TM_OPTION("wall-uncertainty", 0, "TIME",                                                   \
                  "how far hosts' clocks may be off, as set (5ms)"),                               \
        TM_OPTION("host-map", 0, "FILE", "lines RANK HOST: which host a rank ran on")

#define TM_OPTION_FORCE(also)                                                                      \
    TM_OPTION("force", 0, NULL, "overwrite the output even where it is no tmerge store" also)

#define TM_OPTION_JOBS                                                                             \
    TM_OPTION("jobs", 'j', "N",                                                                    \
              "processes, without mpirun (a core each, as far as that pays); 1: this one alone")

/* Options of tm_pipeline_run: how the store is written, and what is reported meanwhile. */
#define TM_OPTIONS_STORE                                                                           \
    TM_OPTION_JOBS,                                                                                \
        TM_OPTION("no-compress", 0, NULL, "plain chunks in the store: larger and faster"),         \
        TM_OPTION("no-replay", 0, NULL,                                                            \
                  "no whatif and critical path, which take most of the memory"),                   \
        TM_OPTION("quiet", 'q', NULL, "show no progress"),                                         \
        TM_OPTION("strict", 0, NULL,                                                               \
                  "status 3 where figures could be off by what was not recorded"),                 \
        TM_OPTION("times", 0, NULL, "say how long each phase took"),                               \
        TM_OPTION("progress", 0, "WHEN", "auto (where a person looks on), always or never"),       \
        TM_OPTION_COLOR

#endif
