/* Invariants of every analysis and every table in the registry. */

#include "rows_fixture.h"
#include "table/renamed.h"
#include "tmerge/analysis.h"

static void each_table(void (*check)(const tm_analysis *, const tm_table_def *)) {
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    assert_true(n > 0);
    for (size_t a = 0; a < n; a++)
        for (size_t t = 0; t < analyses[a]->n_tables; t++)
            check(analyses[a], analyses[a]->tables[t]);
}

TEST(analyses_have_a_summary_tables_and_something_to_do) {
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    for (size_t a = 0; a < n; a++) {
        assert_true(strlen(analyses[a]->name) > 0);
        assert_int_equal(strspn(analyses[a]->name, "abcdefghijklmnopqrstuvwxyz_"),
                         strlen(analyses[a]->name));
        assert_true(strlen(analyses[a]->summary) > 0);
        assert_true(analyses[a]->n_tables > 0);
        assert_true(analyses[a]->rank || analyses[a]->collectives || analyses[a]->job);
        for (size_t b = 0; b < a; b++)
            assert_string_not_equal(analyses[a]->name, analyses[b]->name);
    }
}

static void check_name(const tm_analysis *analysis, const tm_table_def *def) {
    size_t prefix = strlen(analysis->name);
    assert_int_equal(strncmp(def->name, analysis->name, prefix), 0);
    assert_int_equal(def->name[prefix], '.');
    const char *own = def->name + prefix + 1;
    assert_true(strlen(own) > 0);
    assert_int_equal(strspn(own, "abcdefghijklmnopqrstuvwxyz_"), strlen(own));
    assert_true(strlen(def->doc) > 0);
    assert_int_equal(def->doc[strlen(def->doc) - 1], '.');
}

TEST(tables_are_named_for_their_analysis_and_say_what_a_row_is) {
    each_table(check_name);
}

static void check_range(const tm_analysis *analysis, const tm_table_def *def) {
    assert_true(def->n_columns > 0);
    assert_in_range(def->n_keys, 0, def->n_columns);
    assert_true(def->top >= -1 && def->top < def->n_columns);
    assert_in_range(def->n_merged, 0, def->n_keys);
    assert_in_range(def->n_prose, 0, def->n_columns - def->n_keys);
    for (int c = def->n_columns - def->n_prose; c < def->n_columns; c++)
        assert_int_equal(def->columns[c].type, TM_TEXT);
    if (def->n_merged > 0) { /* rows that are sent as numbers, and merged */
        assert_true(def->internal);
        assert_non_null(analysis->merge);
        assert_in_range(def->n_columns, 1, 64);
        for (int c = 0; c < def->n_columns; c++)
            assert_int_not_equal(def->columns[c].type, TM_TEXT);
    }
    if (def->top < 0)
        return;
    /* `--top` sorts by a number that is not a key. */
    tm_type type = def->columns[def->top].type;
    assert_true(type == TM_INT || type == TM_REAL);
    assert_true(def->top >= def->n_keys);
}

TEST(keys_and_the_ranking_column_are_in_range) {
    each_table(check_range);
}

static void check_former(const tm_analysis *analysis, const tm_table_def *def) {
    const tm_former_column *former = NULL;
    (void)analysis;
    for (int i = 0; (former = tm_former_column_of(def, i)); i++)
        assert_string_equal(tm_column_of(def, former->was)->name, former->column);
}

TEST(former_columns_are_those_of_columns_that_are_there) {
    each_table(check_former);
}

static bool names_a_table(const char *name) {
    bool any = false;
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    for (size_t a = 0; a < n; a++)
        for (size_t t = 0; t < analyses[a]->n_tables; t++)
            any = any || (tm_table_is_meant(analyses[a]->tables[t], name));
    return any;
}

TEST(former_names_are_those_of_tables_that_are_there) {
    for (size_t i = 0; i < tm_n_renames; i++) {
        assert_true(names_a_table(tm_renames[i].now));
        assert_true(names_a_table(tm_renames[i].was));
        assert_ptr_equal(tm_renamed_find(tm_renames[i].was), &tm_renames[i]);
        assert_null(tm_renamed_find(tm_renames[i].now));
    }
}

static bool ends_in(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void check_column(const tm_table_def *def, int at) {
    static const char *const units[] = {"ns",   "%",      "B",       "GB/s",    "ppb",
                                        "FLOP", "FLOP/B", "GFLOP/s", "TFLOP/s", ""};
    static const char *const suffixes[] = {"_ns",  "_pct",          "bytes",   "bw_gbps", "_ppb",
                                           "flop", "flop_per_byte", "_gflops", "_tflops", NULL};
    const tm_column *column = &def->columns[at];
    assert_true(strlen(column->name) > 0);
    assert_int_equal(strspn(column->name, "abcdefghijklmnopqrstuvwxyz_0123456789"),
                     strlen(column->name));
    for (int c = 0; c < at; c++)
        assert_string_not_equal(column->name, def->columns[c].name);
    if (!ends_in(column->doc, "."))
        fail_msg("the doc of %s in %s is no sentence", column->name, def->name);
    assert_in_range(column->type, TM_INT, TM_BOOL);
    size_t unit = 0;
    while (unit < COUNT(units) && strcmp(column->unit, units[unit]) != 0)
        unit++;
    assert_true(unit < COUNT(units));
    for (size_t u = 0; suffixes[u]; u++) /* only this unit has this suffix */
        if ((u == unit) != ends_in(column->name, suffixes[u]))
            fail_msg("%s in %s has the unit '%s'", column->name, def->name, column->unit);
    /* Times are integers, except for the decimals of nsys stats. */
    bool decimal = strncmp(def->name, "stats.", 6) == 0 &&
                   (strncmp(column->name, "me", 2) == 0 || strncmp(column->name, "std", 3) == 0);
    if (strcmp(column->unit, "ns") == 0)
        assert_int_equal(column->type, decimal ? TM_REAL : TM_INT);
    if (column->type == TM_TEXT || column->type == TM_BOOL)
        assert_string_equal(column->unit, "");
}

static void check_columns(const tm_analysis *analysis, const tm_table_def *def) {
    (void)analysis;
    for (int c = 0; c < def->n_columns; c++)
        check_column(def, c);
}

TEST(every_column_has_a_doc_and_its_name_carries_its_unit) {
    each_table(check_columns);
}

#define PARTS                                                                                      \
    " step_ns kernel_ns comm_ns memcpy_ns memset_ns runtime_ns input_ns cpu_ns other_ns "          \
    "gpu_utilization_pct "
#define USES "sm_efficiency_pct occupancy_pct occupancy_known_pct tensor_core_pct "

/* Tables and columns that readers find by name, in any order. */
#define POD                                                                                        \
    "step_ns compute_16_ns compute_32_ns compute_untyped_ns collectives_ns infeed_ns "             \
    "input_wait_ns host_to_device_ns output_ns device_to_device_ns offload_ns launch_ns "          \
    "compilation_ns host_ns other_ns input_ns input_pct output_pct barrier_ns shuffle_ns "         \
    "sparse_core_ns bottleneck "
static const struct {
    const char *name, *columns;
} contract[] = {
    {"job.job", " ranks hosts steps events collectives begin_ns duration_ns recordings recorded_ns "
                "device_kind integrity "},
    {"job.rank", " rank host device source format events begin_ns end_ns skipped_events "
                 "repaired_events truncated remarks device_kind unrecognised profiler_error "
                 "opening_ns host_inferred "},
    {"job.format", " format ranks cannot_tell "},
    {"job.differs", " what value n_ranks ranks "},
    {"job.remark", " rank source remark class count meaning "},
    {"overlap.rank", " rank window_ns compute_ns comm_ns memory_ns overlap_ns overlap_pct "
                     "exposed_comm_ns exposed_memory_ns busy_ns idle_ns wait_ns transfer_ns "
                     "exposed_wait_ns exposed_transfer_ns exposed_unmatched_ns "
                     "exposed_least_wait_ns comm_to_compute exposed_to_window before_ns "},
    {"overlap.step",
     " rank step begin_ns partial window_ns compute_ns comm_ns memory_ns overlap_ns overlap_pct "
     "exposed_comm_ns exposed_memory_ns busy_ns idle_ns wait_ns transfer_ns exposed_wait_ns "
     "exposed_transfer_ns exposed_unmatched_ns exposed_least_wait_ns comm_to_compute "
     "exposed_to_window "},
    {"overlap.kind", " rank kind count comm_ns overlap_ns overlap_pct exposed_comm_ns "},
    {"overlap.device",
     " rank device works window_ns compute_ns comm_ns memory_ns overlap_ns overlap_pct "
     "exposed_comm_ns exposed_memory_ns busy_ns idle_ns "},
    {"imbalance.step",
     " step mean_compute_ns max_compute_ns max_rank imbalance_pct imbalance_ns load_balance cov "
     "gini step_ns parallel_efficiency communication_efficiency "},
    {"imbalance.job",
     " mean_compute_ns max_compute_ns max_rank imbalance_pct imbalance_ns load_balance cov gini "
     "step_ns parallel_efficiency communication_efficiency ranks steps partial_steps "},
    {"stragglers.rank",
     " rank host collectives last_arrivals last_share tied wait_ns caused_wait_ns caused_share "
     "direct_ns indirect_ns relative_speed steps_led p excess_ns excess_pct verdict "},
    {"stragglers.pair", " rank for_rank wait_ns "},
    {"stragglers.step", " step rank caused_wait_ns direct_ns indirect_ns lateness_ns "},
    {"stragglers.rank_step", " rank step wait_ns caused_wait_ns direct_ns indirect_ns "},
    {"stragglers.job", " verdict rank host level p certainty matched_share headline evidence "},
    {"stragglers.finding", " finding level rank host ranks shape from to unit units p certainty "
                           "excess_ns excess_pct caused_share saved_pct work "},
    {"collectives.kind",
     " kind group ranks how evidence_bits at_least count size_class_bytes bytes median_transfer_ns "
     "p95_transfer_ns median_skew_ns algbw_gbps busbw_gbps "},
    {"collectives.worst",
     " instance kind group seq step bytes begin_ns skew_ns wait_ns last_rank transfer_ns "},
    {"collectives.instance",
     " instance kind group seq step bytes bytes_inferred ranks begin_ns exposed_ns "
     "longest_exposed_ns longest_rank comm_ns wait_ns "},
    {"collectives.arrival", " instance rank begin_ns end_ns "},
    {"collectives.pair", " from_rank to_rank count even_count unknown_count bytes expected_bytes "
                         "share_pct times_even "},
    {"collectives.unmatched", " group ranks reason count "},
    {"bubble.stage", " stage ranks forward_passes forward_ns backward_ns span_ns bubble_ns "
                     "bubble_pct late_sender_ns transfer_ns "},
    {"bubble.step",
     " pipeline step stages ranks forward_passes begin_ns span_ns bubble_pct ideal_pct "},
    {"bubble.pass", " step stage rank direction number begin_ns end_ns "},
    {"bubble.pair", " from_rank to_rank from_stage to_stage count bytes late_sender_ns "
                    "late_receiver_ns transfer_ns "},
    {"clock.rank",
     " rank host offset_ns drift_ppb uncertainty_ns low_ns high_ns residual_ns ends_late_ns "
     "early_kernels earliest_ns component method anchors domain set_ns "},
    {"overview.step", " rank step" PARTS},
    {"overview.rank", " rank steps" PARTS USES},
    {"steps.mark", " rank step kind phase batch padded_batch tokens prefill_batch prefill_tokens "
                   "decode_batch decode_tokens resolution "},
    {"steps.kind",
     " kind steps median_ns mean_ns min_ns max_ns cov_pct share_pct phase mean_batch mean_tokens "},
    {"overview.job", " ranks steps mean_step_ns" PARTS USES
                     "kernel_pct comm_pct memcpy_pct memset_pct runtime_pct input_pct cpu_pct "
                     "other_pct partial_steps samples_per_step tokens_per_step samples_per_s "
                     "tokens_per_s device_samples_per_s device_tokens_per_s headline evidence "},
    {"phases.step", " rank step step_ns forward_ns backward_ns optimizer_ns data_ns other_ns "
                    "forward_pct backward_pct optimizer_pct data_pct other_pct host_forward_ns "
                    "host_backward_ns host_optimizer_ns host_data_ns host_other_ns gpu_forward_ns "
                    "gpu_backward_ns gpu_optimizer_ns gpu_data_ns gpu_other_ns gpu_idle_ns "},
    {"input.rank", " rank waits step_ns load_ns load_pct stall_ns stall_pct slowest_step "
                   "slowest_step_load_ns slowest "},
    {"input.step", " rank step step_ns load_ns load_pct stall_ns stall_pct "},
    {"pod.step", " rank step " POD "slow over_ns "},
    {"pod.rank", " rank host steps " POD "min_input_pct median_input_pct max_input_pct "
                 "max_input_step slow slow_steps over_ns program "},
    {"pod.collective", " program operation group kind ranks members bytes count total_ns wait_ns "
                       "max_rank_ns max_rank "},
    {"pipeline.stage", " host stage kind calls total_ns self_ns mean_self_ns share_pct wait_ns "},
    {"pipeline.host", " host preprocessing_ns reading_ns advanced_reading_ns enqueue_ns self_ns "
                      "slowest_stage slowest_pct "},
    {"hlo.rank",
     " rank device peak_tflops peak_bw_gbps ridge_flop_per_byte occurrences self_ns "
     "known_pct flop achieved_tflops peak_pct bytes bw_gbps peak_bw_pct flop_per_byte "},
    {"hlo.work", " level program op category origin shape occurrences self_ns share_pct async_ns "
                 "known_pct flop achieved_tflops peak_pct bytes bw_gbps peak_bw_pct flop_per_byte "
                 "bound ranks median_rank_ns max_rank_ns max_rank "},
    {"framework.work", " level side operator type operators occurrences total_ns self_ns share_pct "
                       "ranks max_rank_ns max_rank "},
    {"calls.call",
     " level name shapes calls device_self_ns device_total_ns host_self_ns host_total_ns "
     "tensor_self_pct tensor_total_pct ranks device_min_ns device_median_ns device_max_ns "
     "device_max_rank host_min_ns host_median_ns host_max_ns host_max_rank tensor_cores_fit "
     "backward_device_self_ns backward_device_total_ns backward_host_ns "},
    {"clock.check", " collectives matched incomplete unmatched inferred transfers_alone suspect "
                    "violations_before violations_after worst_before_ns worst_after_ns align "},
    {"launches.queue", " rank time_ns mean_queue "},
    {"transfers.rate", " rank kind time_ns bytes bw_gbps "},
    {"launches.rank",
     " rank events unlinked launches launches_per_event call_ns mean_call_ns mean_latency_ns "
     "median_latency_ns p95_latency_ns max_latency_ns mean_queue max_queue host_bound_events "
     "host_bound_pct short_events short_pct graph_launches graph_events "},
    {"launches.api",
     " name calls total_ns mean_ns max_ns ranks median_rank_ns max_rank_ns max_rank "},
    {"idle.rank", " rank idle_ns idle_pct host_wait_ns kernel_wait_ns other_ns input_ns "
                  "host_comm_ns alloc_ns sync_ns host_work_ns gaps longest_ns turns_ns "
                  "queued_ns "},
    {"idle.stream", " rank device stream events idle_ns host_wait_ns kernel_wait_ns other_ns "},
    {"idle.gap", " rank begin_ns duration_ns step cause after before host host_ns unrecorded_ns "},
    {"sync.call", " call operator inside calls calls_per_step total_ns mean_ns max_ns lost_ns "
                  "ranks max_rank_lost_ns max_rank "},
    {"transfers.kind", " rank kind host_memory count bytes total_ns bw_gbps union_ns overlap_ns "
                       "overlap_pct sync_count sync_ns "},
    {"transfers.size", " kind host_memory size_class_bytes count bytes total_ns bw_gbps "},
    {"transfers.allocation", " rank call calls step_calls total_ns max_ns "},
    {"kernels.kernel",
     " name calls total_ns mean_ns min_ns max_ns blocks_per_sm occupancy_pct share_pct "
     "communication class tensor_cores registers shared_memory_bytes short_calls short_pct ranks "
     "median_rank_ns slowest_rank_ns slowest_rank spread may_communicate "},
    {"kernels.launch_shape", " name grid block registers shared_memory_bytes calls total_ns "
                             "mean_ns min_ns max_ns blocks_per_sm occupancy_pct "},
    {"kernels.launched", " level kernel operator inside calls total_ns mean_ns share_pct ranks "
                         "median_rank_ns max_rank_ns max_rank "},
    {"calls.tree",
     " level node parent depth name calls host_total_ns host_self_ns device_total_ns "
     "device_self_ns ranks host_median_ns host_max_ns host_max_rank device_median_ns "
     "device_max_ns device_max_rank forward_device_ns recomputed_device_ns backward_device_ns "
     "backward_host_ns "},
    {"host.thread", " rank process thread name running_ns running_pct times migrations cores "
                    "os_calls os_ns os_wait_ns "},
    {"host.counter", " rank source name series samples mean min max "},
    {"host.unified_memory",
     " level rank address addresses to_device to_device_bytes to_device_ns to_host to_host_bytes "
     "to_host_ns gpu_faults gpu_fault_groups gpu_fault_ns cpu_faults "},
    {"stats.time", " report name count total_ns share_pct mean_ns median_ns min_ns max_ns "
                   "stddev_ns ranks max_rank_ns max_rank median_exact "},
    {"stats.size", " report name count total_bytes share_pct mean_bytes median_bytes min_bytes "
                   "max_bytes stddev_bytes ranks max_rank_bytes max_rank median_exact "},
    {"kernels.section", " name grid block section metric unit value text launches "},
    {"kernels.rule", " name grid block section rule type speedup_pct speedup_type launches text "},
    {"kernels.roofline",
     " name grid block launches calls total_ns sm_pct memory_pct dram_pct occupancy_pct flop "
     "dram_bytes flop_per_byte achieved_gflops roof_gflops roof_bw_gbps tensor_roof_gflops bound "},
    {"classes.work",
     " level rank class calls total_ns optimizer_ns backward_ns attention_ns outside_ns bits8_ns "
     "bits16_ns tf32_ns bits32_ns bits64_ns flash_ns share_pct bits16_pct bits32_pct names "
     "top_name top_name_ns ranks median_rank_ns slowest_rank_ns slowest_rank spread "},
    {"efficiency.rank",
     " rank device devices type peak_tflops step_ns window_ns compute_ns counted_ns coverage_pct "
     "flop at_most_flop recomputed_flop achieved_tflops kernel_tflops ideal_ns mfu_pct "
     "mfu_window_pct mfu_at_most_pct mfu_causal_pct hfu_pct reason "},
    {"efficiency.step", " rank step step_ns window_ns compute_ns counted_ns coverage_pct flop "
                        "at_most_flop recomputed_flop achieved_tflops kernel_tflops ideal_ns "
                        "mfu_pct mfu_window_pct mfu_at_most_pct mfu_causal_pct hfu_pct "},
    {"efficiency.work", " level name shapes type at_most calls total_ns flop achieved_tflops "
                        "peak_pct bytes flop_per_byte bw_gbps ranks median_rank_ns max_rank_ns "
                        "max_rank "},
    {"contention.kernel",
     " name grid block ranks beside_calls alone_calls beside_ns alone_ns slowdown extra_ns "},
    {"memory.device", " rank device allocations releases relative begin_bytes end_bytes peak_bytes "
                      "peak_time_ns peak_step peak_operator peak_reserved_bytes fragmentation_pct "
                      "capacity_bytes capacity_pct growth_bytes growing_steps mean_bytes pattern "
                      "spike_step reserve_falls steps_left allocator limit_bytes "},
    {"memory.job", " device ranks devices peak_min_bytes peak_median_bytes peak_max_bytes "
                   "peak_max_rank nearest_rank nearest_pct growing_devices first_rank steps_left "},
    {"memory.curve",
     " rank device time_ns allocated_bytes reserved_bytes preexisting_bytes temporary_bytes "
     "optimizer_state_bytes gradient_bytes autograd_detail_bytes input_bytes activation_bytes "
     "forward_only_bytes other_bytes stack_bytes unrecorded_bytes "},
    {"memory.category", " rank device category peak_bytes peak_pct mean_bytes most_bytes end_bytes "
                        "blocks allocated_bytes "},
    {"memory.live",
     " rank device place category operator shapes module step block_bytes blocks bytes share_pct "},
    {"memory.parameters",
     " rank parameters tensors passes parameter_bytes sharded optimizer state_least_bytes "
     "state_most_bytes preexisting_bytes gradient_bytes rest_bytes "},
    {"memory.snapshot",
     " file device segments reserved_bytes blocks allocated_bytes requested_bytes pending_bytes "
     "free_bytes free_pct largest_free_bytes entries trace_peak_bytes ooms "},
    {"memory.site", " file device place site blocks bytes requested_bytes share_pct "},
    {"memory.timeline",
     " file category peak_bytes peak_pct most_bytes end_bytes peak_time_ns records "},
    {"memory.step",
     " rank device step allocated_bytes peak_bytes peak_reserved_bytes end_bytes growth_bytes "},
    {"memory.owner", " level name device ranks calls self_allocations self_bytes "
                     "self_increase_bytes allocations bytes increase_bytes peak_bytes peak_rank "},
};

/* Returns whether the registry has the analysis of this table. */
static bool is_registered(const char *table) {
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    for (size_t a = 0; a < n; a++)
        if (strncmp(table, analyses[a]->name, strlen(analyses[a]->name)) == 0 &&
            table[strlen(analyses[a]->name)] == '.')
            return true;
    return false;
}

TEST(the_tables_have_the_columns_that_their_definition_promises) {
    tm_tables tables = open_tables();
    for (size_t i = 0; i < COUNT(contract); i++) {
        const tm_table *table = tm_tables_find(&tables, contract[i].name);
        if (!is_registered(contract[i].name))
            continue;
        if (!table)
            fail_msg("there is no table %s", contract[i].name);
        int promised = -1; /* one less than the blanks around the names */
        for (const char *p = contract[i].columns; *p; p++)
            promised += *p == ' ';
        for (int c = 0; c < table->def->n_columns; c++) {
            char column[64];
            snprintf(column, sizeof column, " %s ", table->def->columns[c].name);
            if (!strstr(contract[i].columns, column))
                fail_msg("%s has a column %s", contract[i].name, column);
        }
        assert_int_equal(table->def->n_columns, promised); /* no column is missing */
    }
    tm_tables_destroy(&tables);
}

/* The report plots and sums these columns. */
TEST(charts_have_their_columns_and_times_are_reported) {
    tm_tables tables = open_tables();
    for (size_t t = 0; t < tables.n_tables; t++) {
        const tm_table_def *def = tables.tables[t].def;
        int n_times = 0;
        for (int c = 0; c < def->n_columns; c++) {
            const char *name = def->columns[c].name;
            char word[64];
            snprintf(word, sizeof word, " %s ", name);
            bool is_time =
                strstr(" begin_ns end_ns time_ns peak_time_ns trace_end_ns step_begin_ns "
                       "call_begin_ns ",
                       word);
            if (!def->internal && is_time != tm_column_is_epoch(&def->columns[c]))
                fail_msg("%s.%s: a time since the epoch, or not?", def->name, name);
            n_times += is_time;
        }
        if (def->form == TM_FORM_TABLE)
            continue;
        assert_true(def->top >= 0 && tm_table_column(def, "rank") >= 0);
        assert_true(def->form != TM_FORM_BARS || def->n_keys == 1);
        assert_true(def->form != TM_FORM_MAP || tm_table_column(def, "step") >= 0);
        assert_true(def->form != TM_FORM_LINE || n_times == 1);
    }
    tm_tables_destroy(&tables);
}

TEST(every_table_is_created_once_and_empty) {
    tm_tables tables = open_tables();
    size_t n, expected = 0;
    const tm_analysis *const *analyses = tm_analyses(&n);
    for (size_t a = 0; a < n; a++)
        for (size_t t = 0; t < analyses[a]->n_tables; t++, expected++) {
            const tm_table *table = tm_tables_find(&tables, analyses[a]->tables[t]->name);
            assert_non_null(table);
            assert_ptr_equal(table->def, analyses[a]->tables[t]); /* names are unique */
            assert_int_equal(table->n_rows, 0);
        }
    assert_int_equal(tables.n_tables, expected);
    tm_tables_destroy(&tables);
}

TEST(every_count_of_a_trace_has_a_word_and_a_doc_of_its_own) {
    for (int i = 0; i < TM_N_COUNTS; i++) {
        const tm_count_def *def = tm_count_info((tm_count)i);
        assert_true(strlen(def->word) > 0 && strlen(def->doc) > 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(def->word, tm_count_info((tm_count)k)->word);
    }
}

RUN_TESTS()
