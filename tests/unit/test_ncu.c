/* Pages of `ncu --csv`: records, values, launches, and where reading of malformed pages fails. */
#include <math.h>

#include "ncu/metrics.h"
#include "ncu/ncu_records.h"
#include "tmerge/ncu.h"

/* A field is followed by |, a record by /. @p offset is where reading fails; -1: nowhere. */
static const struct {
    const char *text, *expected;
    int64_t offset;
} record_cases[] = {
    {"a,b\nc,\n", "a|b|/c||/", -1},
    {"\"a,b\",\"say \"\"x\"\"\"\r\n\"\"", "a,b|say \"x\"|/|/", -1},
    {"==PROF== \"Conn\n\n\r\nx\n==PROF== y\nz,\"p\nq\"", "x|/z|p\nq|/", -1},
    {"a==,b", "a==|b|/", -1},
    {"a\rb\n", "a\rb|/", -1},
    {"", "", -1},
    {"ab,\"cd\nef", NULL, 3},
    {"ab,\"cd\"e\n", NULL, 7},
};

TEST(records_are_split_as_rfc_4180_has_them) {
    for (size_t i = 0; i < COUNT(record_cases); i++) {
        tm_records r = TM_RECORDS("x.csv", record_cases[i].text, strlen(record_cases[i].text));
        char joined[64] = "";
        bool found = true;
        tm_error err = {.offset = -1};
        tm_status status = TM_OK;
        while (status == TM_OK && found) {
            status = tm_records_next(&r, &found, &err);
            for (size_t f = 0; status == TM_OK && f < tm_records_fields(&r); f++) {
                strcat(joined, tm_records_field(&r, f));
                strcat(joined, "|");
            }
            strcat(joined, found ? "/" : "");
        }
        assert_int_equal(status, record_cases[i].expected ? TM_OK : TM_ERR_INPUT);
        assert_int_equal(err.offset, record_cases[i].offset);
        if (record_cases[i].expected)
            assert_string_equal(joined, record_cases[i].expected);
        tm_records_free(&r);
    }
}

TEST(a_zero_byte_is_refused_where_its_field_begins) {
    static const char text[] = "ab,c\0d\n";
    tm_records r = TM_RECORDS("x.csv", text, sizeof text - 1);
    bool found;
    tm_error err;
    assert_int_equal(tm_records_next(&r, &found, &err), TM_ERR_INPUT);
    assert_int_equal(err.offset, 3);
    tm_records_free(&r);
}

TEST(values_have_separators_or_are_no_numbers) {
    static const struct {
        const char *text;
        double value; /* NaN: not a number; infinite: reading fails */
    } cases[] = {
        {"4,963,609,951.19", 4963609951.19},
        {"12", 12},
        {"-1,000", -1000},
        {"1.5e+03", 1500},
        {"7.5 (3; 4)", 7.5},
        {"n/a", (double)NAN},
        {"", (double)NAN},
        {"nan", (double)NAN},
        {"9,00", (double)INFINITY},
        {"1.5,000", (double)INFINITY},
        {"1,0000", (double)INFINITY},
        {"12abc", (double)INFINITY},
        {"1.2.3", (double)INFINITY},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double value = -1;
        bool ok = tm_value_parse(cases[i].text, &value);
        assert_int_equal(ok, !isinf(cases[i].value));
        if (ok && !isnan(cases[i].value))
            assert_true(value == cases[i].value);
        else
            assert_true(isnan(value));
    }
}

TEST(units_have_decimal_prefixes) {
    static const struct {
        const char *unit;
        double scale;
    } cases[] = {
        {"%", 1},
        {"", 1},
        {"byte", 1},
        {"Mbyte", 1e6},
        {"Gbyte/s", 1e9},
        {"usecond", 1e-6},
        {"us", 1e-6},
        {"nsecond", 1e-9},
        {"second", 1},
        {"Ghz", 1e9},
        {"cycle/nsecond", 1e9},
        {"Kbyte/cycle", 1e3},
        {"inst/cycle", 1},
        {"warp", 1},
        {"Tbyte/second", 1e12},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_true(fabs(tm_unit_scale(cases[i].unit) / cases[i].scale - 1) < 1e-12);
}

static tm_status read_text(tm_ncu *ncu, const char *text, tm_error *err) {
    tm_source *source;
    assert_int_equal(tm_source_open_memory(text, strlen(text), "x.csv", &source, err), TM_OK);
    tm_status status = tm_ncu_read(ncu, source, err);
    tm_source_close(source);
    return status;
}

/* Expects one launch per line: name, grid, block and figures; - means unknown. */
static void assert_launches(const tm_ncu *ncu, const char *expected) {
    char found[1024] = "";
    size_t n;
    const tm_ncu_launch *launch = tm_ncu_launches(ncu, &n);
#define PUT(...) snprintf(found + strlen(found), sizeof found - strlen(found), __VA_ARGS__)
    for (size_t i = 0; i < n; i++, launch++) {
        const int64_t *g = launch->grid, *b = launch->block;
        PUT("%s [%d %d %d]x[%d %d %d]", launch->name.bytes, (int)g[0], (int)g[1], (int)g[2],
            (int)b[0], (int)b[1], (int)b[2]);
        for (int f = 0; f < TM_NCU_N_FIGURES; f++)
            if (isnan(launch->figures[f]))
                PUT(" -");
            else
                PUT(" %.9g", launch->figures[f]);
        PUT("\n");
    }
#undef PUT
    assert_string_equal(found, expected);
}

static void expect_launches(const char *page, const char *second, const char *expected) {
    tm_ncu *ncu = tm_ncu_create();
    tm_error err;
    assert_int_equal(read_text(ncu, page, &err), TM_OK);
    if (second)
        assert_int_equal(read_text(ncu, second, &err), TM_OK);
    assert_launches(ncu, expected);
    tm_ncu_destroy(ncu);
}

#define NO_SHAPE " [-1 -1 -1]x[-1 -1 -1]"

#define DETAILS                                                                                    \
    "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Stream\",\"Block Size\",\"Grid "     \
    "Size\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule "             \
    "Name\",\"Rule "                                                                               \
    "Description\"\n"
#define GEMM                                                                                       \
    "\"0\",\"77\",\"py\",\"void gemm<float, \"\"x\"\">(int)\",\"7\",\"(64, 2, 1)\",\"(1024, 1, "   \
    "1)\","
#define LIGHT "\"GPU Speed Of Light Throughput\","

static const char details[] =
    "training, epoch \"1\n==PROF== Connected to process 77\n" DETAILS GEMM LIGHT
    "\"DRAM Frequency\",\"Ghz\",\"n/a\",\"\",\"\"\n" GEMM LIGHT
    "\"Compute (SM) Throughput\",\"%\",\"81.5\"\n" GEMM LIGHT
    "\"Memory Throughput\",\"%\",\"40\",\"\",\"\"\n" GEMM LIGHT
    "\"DRAM Throughput\",\"%\",\"25\",\"\",\"\"\n" GEMM LIGHT
    "\"Duration\",\"us\",\"2.50\",\"\",\"\"\n" GEMM
    "\"SpeedOfLight\",\"\",\"\",\"\",\"SOLBottleneck\",\"wait, more\",\"5\"\n" GEMM
    "\"Memory Workload Analysis\",\"Memory Throughput\",\"Gbyte/s\",\"1,200.00\",\"\",\"\"\n" GEMM
    "\"Occupancy\",\"Achieved Occupancy\",\"%\",\"12.5\",\"\",\"\"\n"
    "\"1\",\"77\",\"py\",\"copy\",\"7\",\"(32, 1, 1)\",\"(8, 4, 1)\"," LIGHT
    "\"Memory Throughput\",\"%\",\"n/a\",\"\",\"\"\n==PROF== Disconnected from process 77\n";

#define GEMM_TEXT "void gemm<float, \"x\">(int) [1024 1 1]x[64 2 1]"
#define COPY_TEXT "copy [8 4 1]x[32 1 1] - - - - - - - - -\n"

/* bytes: 1200e9 B/s * 2.5e-6 s = 3e6 */
TEST(a_details_page_is_read_by_section_and_label) {
    expect_launches(details, NULL, GEMM_TEXT " 81.5 40 25 12.5 - 3000000 - - -\n" COPY_TEXT);
}

#define OP "smsp__sass_thread_inst_executed_op_"
static const char raw[] =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"dram__bytes.sum\",\"" OP
    "fadd_pred_on.sum\",\"" OP "ffma_pred_on.sum\",\"sm__ops_path_tensor_src_bf16_dst_fp32.sum\","
    "\"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained\",\"sm__cycles_elapsed.avg."
    "per_second\",\"dram__bytes.sum.peak_sustained\",\"dram__cycles_elapsed.avg.per_second\","
    "\"sm__ops_path_tensor_src_bf16_dst_fp32.sum.peak_sustained\","
    "\"sm__ops_path_tensor_src_fp8.sum.peak_sustained\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"inst\",\"inst\",\"\",\"inst/cycle\",\"Ghz\","
    "\"Kbyte/cycle\",\"Mhz\",\"\",\"\"\n"
    "\"0\",\"77\",\"void gemm<float, \"\"x\"\">(int)\",\"(1024, 1, 1)\",\"(64, 2, 1)\",\"4.00\","
    "\"1,000,000\",\"2,000,000\",\"7,000,000\",\"10,000\",\"1.5\",\"2\",\"1,500\","
    "\"40,000\",\"80,000\"\n";

/* FLOP: 1e6 adds + 2 * 2e6 FMAs + 7e6 on tensor cores = 12e6. Roofs: 1e4 * 2 * 1.5e9 = 3e13, memory
 * 2e3 * 1.5e9 = 3e12, tensor cores, for the type that they used, 4e4 * 1.5e9 = 6e13. */
TEST(a_raw_page_has_its_units_in_its_second_line) {
    expect_launches(raw, NULL, GEMM_TEXT " - - - - 12000000 4000000 3e+13 3e+12 6e+13\n");
}

/* Counted bytes take precedence over those computed from a rate. */
TEST(two_pages_of_a_report_are_the_same_launches) {
#define BOTH GEMM_TEXT " 81.5 40 25 12.5 12000000 4000000 3e+13 3e+12 6e+13\n" COPY_TEXT
    expect_launches(raw, details, BOTH);
    expect_launches(details, raw, BOTH);
}

TEST(tensor_cores_old_labels_and_rates_are_understood) {
    /* If the tensor cores were idle, their roof is that of their fastest type. */
    expect_launches(
        "ID,Process ID,Kernel Name,sm__ops_path_tensor_src_fp8.sum.peak_sustained,"
        "sm__ops_path_tensor_src_fp64.sum.peak_sustained,sm__ops_path_tensor_src_fp64.sum,"
        "sm__cycles_elapsed.avg.per_second\n,,,,,,hz\n0,5,k,300,20,0,1000\n1,5,l,300,20,7,1000\n",
        NULL, "k" NO_SHAPE " - - - - 0 - - - 300000\nl" NO_SHAPE " - - - - 7 - - - 20000\n");
    /* An old page has other labels, and no shape. */
    expect_launches("\"ID\",\"Process ID\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Section "
                    "Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                    "\"0\",\"5\",\"k\",\"2020-Nov-13 18:14:36\",\"1\",\"GPU Speed Of Light\",\"SM "
                    "[%]\",\"%\",\"30\"\n"
                    "\"0\",\"5\",\"k\",\"2020-Nov-13 18:14:36\",\"1\",\"GPU Speed Of "
                    "Light\",\"Memory [%]\",\"%\",\"20\"\n",
                    NULL, "k" NO_SHAPE " 30 20 - - - - - - -\n");
    /* The roofline section counts per cycle, and has already doubled fused operations: (3 + 8) /
     * cycle * 2e9 cycles/s * 1e-3 s = 22e6. */
    expect_launches("ID,Process ID,Kernel Name,gpu__time_duration.sum," OP
                    "fmul_pred_on.sum.per_cycle_elapsed,derived__" OP
                    "ffma_pred_on_x2,smsp__cycles_elapsed.avg.per_second\n"
                    ",,,ms,inst/cycle,inst,hz\n0,5,k,1,3,8,2e9\n",
                    NULL, "k" NO_SHAPE " - - - - 22000000 - - - -\n");
    /* The second kernel used tensor cores, for an unknown number of FLOP. */
    expect_launches("ID,Process ID,Kernel Name," OP "fadd_pred_on.sum,"
                    "sm__inst_executed_pipe_tensor_op_hmma.sum,"
                    "sm__inst_executed_pipe_tensor.sum.peak_sustained\n"
                    ",,,inst,inst,inst\n0,5,a,9,0,512\n1,5,b,9,3,512\n",
                    NULL, "a" NO_SHAPE " - - - - 9 - - - -\nb" NO_SHAPE " - - - - - - - - -\n");
}

TEST(every_line_of_every_section_and_every_rule_is_kept_once) {
    tm_ncu *ncu = tm_ncu_create();
    tm_error err;
    size_t n;
    for (int twice = 0; twice < 2; twice++)
        assert_int_equal(read_text(ncu, details, &err), TM_OK);
    const tm_ncu_metric *metrics = tm_ncu_metrics(ncu, &n);
    assert_int_equal(n, 8); /* seven of the 8 are of the first kernel */
    assert_string_equal(metrics[0].name.bytes, "DRAM Frequency");
    assert_string_equal(metrics[0].text.bytes, "n/a");
    assert_true(isnan(metrics[0].value));
    assert_string_equal(metrics[5].section.bytes, "Memory Workload Analysis");
    assert_string_equal(metrics[5].unit.bytes, "Gbyte/s");
    assert_true(metrics[5].value == 1200.0 && metrics[5].launch == 0);
    assert_int_equal(metrics[7].launch, 1);
    const tm_ncu_rule *rules = tm_ncu_rules(ncu, &n);
    assert_int_equal(n, 1);
    assert_string_equal(rules[0].section.bytes, "SpeedOfLight");
    assert_string_equal(rules[0].name.bytes, "SOLBottleneck");
    assert_string_equal(rules[0].text.bytes, "wait, more");
    assert_true(isnan(rules[0].speedup_pct) && rules[0].speedup_type.size == 0);
    tm_ncu_destroy(ncu);
}

#define RAW "ID,Process ID,Kernel Name,Grid Size,dram__bytes.sum\n,,,,byte\n"

TEST(a_malformed_page_is_refused_with_its_byte) {
    /* The first @ marks the byte that the message names. */
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"traceEvents\": []}\n",
         "not output of ncu --csv: no line starts with the column \"ID\""},
        {"@ID,Kernel Name,x\n0,k,1\n", "not output of ncu --csv: it has no column \"Process ID\""},
        {"x\n@ID,Process ID,Kernel Name,Metric Name\n",
         "not output of ncu --csv: it has only one of the columns \"Metric Name\" and \"Metric "
         "Value\""},
        {RAW "0,5,k,\"(1, 1, 1)\",@1e\n", "'1e' is not a number"},
        {RAW "0,5,k,\"(1, 1, 1)\",@\"9,00\"\n", "'9,00' is not a number"},
        {RAW "0,5,k,@\"(1, 1)\",3\n", "'(1, 1)' should be a shape like (256, 1, 1)"},
        {RAW "0,5,k,\"(1, 1, 1)\",3\n==PROF==\n@1,5,k\n",
         "a record has 3 fields, but the header has 5"},
        {DETAILS "@\"0\",\"77\",\"py\",\"k\"\n", "a record has 4 fields, but the header has 13"},
        {RAW "0,5,@\"k\n", "a quote is not closed"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        const char *mark = strchr(cases[i].text, '@');
        const size_t at = mark ? (size_t)(mark - cases[i].text) : 0;
        strcpy(text, cases[i].text);
        if (mark)
            memmove(text + at, text + at + 1, strlen(text + at));
        tm_ncu *ncu = tm_ncu_create();
        tm_error err;
        assert_int_equal(read_text(ncu, text, &err), TM_ERR_INPUT);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.path, "x.csv");
        assert_int_equal(err.offset, mark ? (int64_t)at : -1);
        tm_ncu_destroy(ncu);
    }
}

RUN_TESTS()
