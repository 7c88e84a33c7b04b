#include "peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row for each device name, longer names first. The rates are those of matrix units, for types
 * that matrix units support. NVIDIA's data sheets give most rates with sparsity; here they are
 * halved. Sources:
 *  [V100] images.nvidia.com/content/technologies/volta/pdf/
 *         volta-v100-datasheet-update-us-1165301-r5.pdf
 *  [A100] nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/
 *         nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf
 *  [H100] nvidia.com/en-us/data-center/h100, resources.nvidia.com/en-us-tensor-core/
 *         nvidia-tensor-core-gpu-datasheet; decimals from glennklockwood.com/garden/
 *         processors/h100
 *  [H200] nvidia.com/en-us/data-center/h200
 *  [B200] glennklockwood.com/garden/processors/B200, after NVIDIA's Blackwell datasheet
 *  [L40S] resources.nvidia.com/en-us-l40s/l40s-datasheet-28413
 *  [A10], [A40] NVIDIA A10 and NVIDIA A40 datasheets; A10G is another chip without a datasheet
 *  [Ada]  NVIDIA Ada GPU Architecture whitepaper, appendix A: GeForce RTX 4090, FP32 accumulate
 *  [MI250X], [MI300X], [MI325X] amd.com/en/products/accelerators/instinct: mi200/mi250x.html (one
 *         card is two devices), mi300/mi300x.html, mi300/mi325x.html
 *  [MI100], [MI210], [MI250] AMD Instinct MI100, MI210 and MI250 data sheets (an MI250, too, is two
 *         devices)
 *  [MI350X], [MI355X] amd.com as above, mi350/mi350x.html and mi355x.html: 256 compute units at 2.2
 *         and 2.4 GHz do 4096 FP16 operations per clock, twice as many in FP8, four times in FP4
 *
 * Cells without a source are 0. */
static const struct {
    const char *name;
    int sms; /* number of multiprocessors of the whole device */
    float fp16, bf16, tf32, fp8, fp4, int8, fp32, fp64;
} known[] = {
    {"V100-SXM2", 80, 125, 0, 0, 0, 0, 0, 15.7F, 7.8F},                                 /* [V100] */
    {"V100-PCIE", 80, 112, 0, 0, 0, 0, 0, 14, 7},                                       /* [V100] */
    {"A100", 108, 312, 312, 156, 0, 0, 624, 19.5F, 19.5F},                              /* [A100] */
    {"H100 PCIe", 114, 756.5F, 756.5F, 378, 1513, 0, 1513, 51, 51},                     /* [H100] */
    {"H100 NVL", 132, 835.5F, 835.5F, 417.5F, 1670.5F, 0, 1670.5F, 60, 60},             /* [H100] */
    {"H100 80GB HBM3", 132, 989.4F, 989.4F, 494.7F, 1978.9F, 0, 1978.9F, 66.9F, 66.9F}, /* [H100] */
    {"H200 NVL", 132, 835.5F, 835.5F, 417.5F, 1670.5F, 0, 1670.5F, 60, 60},             /* [H200] */
    {"NVIDIA H200", 132, 989.4F, 989.4F, 494.7F, 1978.9F, 0, 1978.9F, 66.9F, 66.9F},    /* [H200] */
    {"GB200", 148, 2500, 2500, 1250, 5000, 10000, 5000, 90, 45},                        /* [B200] */
    {"B200", 148, 2250, 2250, 1100, 4500, 9000, 4500, 80, 40},                          /* [B200] */
    {"L40S", 142, 362, 362, 183, 733, 0, 733, 91.6F, 0},                                /* [L40S] */
    {"A10G", 80, 0, 0, 0, 0, 0, 0, 0, 0},
    {"A10", 72, 125, 125, 62.5F, 0, 0, 250, 31.2F, 0},          /* [A10] */
    {"A40", 84, 149.7F, 149.7F, 74.8F, 0, 0, 299.3F, 37.4F, 0}, /* [A40] */
    {"RTX 4090 D", 114, 0, 0, 0, 0, 0, 0, 0, 0},
    {"RTX 4090 Laptop", 76, 0, 0, 0, 0, 0, 0, 0, 0},
    {"RTX 4090", 128, 165.2F, 165.2F, 82.6F, 330.3F, 0, 660.6F, 82.6F, 0},          /* [Ada] */
    {"MI210", 104, 181, 181, 0, 0, 0, 181, 45.3F, 45.3F},                           /* [MI210] */
    {"MI350X", 256, 2306.9F, 2306.9F, 0, 4613.7F, 9227.5F, 0, 144.2F, 72.1F},       /* [MI350X] */
    {"MI355X", 256, 2516.6F, 2516.6F, 0, 5033.2F, 10066.3F, 0, 157.3F, 78.6F},      /* [MI355X] */
    {"MI100", 120, 184.6F, 92.3F, 0, 0, 0, 184.6F, 46.1F, 11.5F},                   /* [MI100] */
    {"MI250X", 110, 191.5F, 191.5F, 0, 0, 0, 0, 47.9F, 47.9F},                      /* [MI250X] */
    {"MI250", 104, 181, 181, 0, 0, 0, 181, 45.3F, 45.3F},                           /* [MI250] */
    {"MI300X", 304, 1307.4F, 1307.4F, 653.7F, 2614.9F, 0, 2614.9F, 163.4F, 163.4F}, /* [MI300X] */
    {"MI325X", 304, 1307.4F, 1307.4F, 653.7F, 2614.9F, 0, 2614.9F, 163.4F, 163.4F}, /* [MI325X] */
};

/* Rounds to the decimals of the table: the float 989.4F is not exactly 989.4. */
static double decimal(float value) {
    return round((double)value * 10.0) / 10.0;
}

/* Returns whether a device's name contains a known name as a whole word. "A100" does not match
 * "A1000". */
static bool holds(const char *name, const char *known_name) {
    const char *at = strstr(name, known_name);
    if (!at)
        return false;
    char next = at[strlen(known_name)];
    return next < '0' || next > '9';
}

tm_peaks tm_peaks_of(const tm_device *device) {
    tm_peaks peaks = {{0}};
    peaks.tflops[TM_NUMBER_MIXED] = device->peak_tflops > 0.0 ? device->peak_tflops : 0.0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!holds(device->name, known[i].name))
            continue;
        if (device->n_sms > 0 && device->n_sms != known[i].sms)
            break;
        peaks.tflops[TM_NUMBER_FP16] = decimal(known[i].fp16);
        peaks.tflops[TM_NUMBER_BF16] = decimal(known[i].bf16);
        peaks.tflops[TM_NUMBER_TF32] = decimal(known[i].tf32);
        peaks.tflops[TM_NUMBER_FP8] = decimal(known[i].fp8);
        peaks.tflops[TM_NUMBER_FP4] = decimal(known[i].fp4);
        peaks.tflops[TM_NUMBER_INT8] = decimal(known[i].int8);
        peaks.tflops[TM_NUMBER_FP32] = decimal(known[i].fp32);
        peaks.tflops[TM_NUMBER_FP64] = decimal(known[i].fp64);
        break;
    }
    return peaks;
}

static tm_number number_named(const char *word, size_t size) {
    for (int n = TM_NUMBER_FP64; n < TM_N_NUMBERS; n++)
        if (strlen(tm_number_word((tm_number)n)) == size &&
            memcmp(tm_number_word((tm_number)n), word, size) == 0)
            return (tm_number)n;
    return TM_N_NUMBERS;
}

tm_status tm_peaks_parse(const char *text, tm_peaks *out, tm_error *err) {
    tm_peaks peaks = *out;
    for (const char *p = text; *p;) {
        size_t size = strcspn(p, "=,");
        tm_number number = number_named(p, size);
        char *end = NULL;
        double value = p[size] == '=' ? strtod(p + size + 1, &end) : 0.0;
        if (number == TM_N_NUMBERS || !(value > 0.0) || value > 1e9 || !end ||
            (*end && *end != ','))
            return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                           "--peak takes TYPE=TFLOPS,... with fp64, fp32, tf32, fp16, bf16, fp8, "
                           "fp4, int8 or mixed, for example bf16=989.4, but it was given '%.40s'",
                           p);
        peaks.tflops[number] = value;
        p = *end ? end + 1 : end;
    }
    *out = peaks;
    return TM_OK;
}
