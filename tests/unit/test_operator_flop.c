/* Work of operators, counted by hand from arguments in real traces and signatures of PyTorch. */
#include "analysis/efficiency/operator_flop.h"

#define BF16 "c10::BFloat16"
#define HALF "c10::Half"
#define E5M2 "c10::Float8_e5m2"
#define E4M3 "c10::Float8_e4m3fn"
#define FP4 "c10::Float4_e2m1fn_x2"
/* Lists of texts. A single quote stands for a double quote. */
#define TWO(t) "['" t "', '" t "']"
#define THREE(t) "['" t "', '" t "', '" t "']"
#define FIVE(t) "['" t "', '" t "', '" t "', '" t "', '" t "']"
#define CONV(stride, padding, dilation, transposed)                                                \
    "['', '', '', '" stride "', '" padding "', '" dilation "', '" transposed "', '[0, 0]', '1']"
#define CONV_BACK(transposed, mask)                                                                \
    "['', '', '', '[0]', '[1, 1]', '[1, 1]', '[1, 1]', '" transposed "', '[0, 0]', '1', '" mask "']"
#define PACKED(causal, back, ahead)                                                                \
    "['', '', '', '2048', '2048', '', '0.1', '" causal "', '" back "', '" ahead "', '0', '0.']"

#define ONE_FLOP(n) n, n

static const struct {
    const char *op, *dims, *types, *concrete;
    int64_t flop, causal_flop, bytes;
    tm_number number;
    bool at_most;
} cases[] = {
    /* FLOP: 2 x 3072 x 16384 x 768; bytes: 2 (3072 x 16384 + 16384 x 768 + 3072 x 768) */
    {"aten::mm", "[[3072, 16384], [16384, 768], [3072, 768]]", THREE(BF16), "['', '', '']",
     ONE_FLOP(77309411328), 130547712, TM_NUMBER_BF16, false},
    /* 2 x 8944 x 1024 x 1024; 2 (8944 x 1024 x 2 + 1024 x 1024) */
    {"aten::mm", "[[8944, 1024], [1024, 1024]]", TWO(BF16), "['', '']", ONE_FLOP(18756927488),
     38731776, TM_NUMBER_BF16, false},
    /* 2 x 2 x 4 x 3; FP32 or TF32, so 4 (2 x 3 + 3 x 4 + 2 x 4) */
    {"aten::mm", "[[2, 3], [3, 4]]", TWO("float"), "", ONE_FLOP(48), 104, TM_NUMBER_SINGLE, false},
    {"aten::mm", "[[2, 3], [3, 4]]", TWO("double"), "", ONE_FLOP(48), 208, TM_NUMBER_FP64, false},
    /* without types, FLOP are known, but neither type nor bytes */
    {"aten::mm", "[[2, 3], [3, 4]]", "", "", ONE_FLOP(48), -1, TM_NUMBER_UNKNOWN, false},
    {"aten::mm", "[[2, 3], [3, 4]]", TWO("c10::complex<float>"), "", ONE_FLOP(48), -1,
     TM_NUMBER_UNKNOWN, false},
    /* nothing to sum, but 2 x 4 zeros to write */
    {"aten::mm", "[[2, 0], [0, 4]]", TWO(HALF), "", ONE_FLOP(0), 16, TM_NUMBER_FP16, false},
    /* 2 x 16384 x 50304 x 768; inputs of 1 byte and an output of 2 (15 is BFloat16): 16384 x 50304
     * + 50304 x 768 + 2 x 16384 x 768 */
    {"aten::_scaled_mm", "[[16384, 50304], [50304, 768], [], [], [], [], [], [], [16384, 768]]",
     "['" E5M2 "', '" E4M3 "', 'float', 'float', '', '', 'Scalar', 'Scalar', '" BF16 "']",
     "['', '', '', '', '', '', '15', 'False', '']", ONE_FLOP(1265941610496), 887980032,
     TM_NUMBER_FP8, false},
    /* 2 x 768 x 16384 x 50304; an output of 4 bytes (6 is float): 768 x 16384 + 16384 x 50304 + 4 x
     * 768 x 50304 */
    {"aten::_scaled_mm", "[[768, 16384], [16384, 50304], [], [], [], [], [], []]",
     "['" E4M3 "', '" E5M2 "', 'float', 'float', '', '', 'Scalar', 'Scalar']",
     "['', '', '', '', '', '', '6', 'False']", ONE_FLOP(1265941610496), 991297536, TM_NUMBER_FP8,
     false},
    /* a byte has two numbers, so K is 128: 2 x 64 x 128 x 32; 64 x 64 + 64 x 32 + 2 x 64 x 32 */
    {"aten::_scaled_mm", "[[64, 64], [64, 32]]", TWO(FP4), "", ONE_FLOP(524288), 10240,
     TM_NUMBER_FP4, false},
    /* 2 x 16 x 32 x 8; 16 x 32 + 32 x 8 + 4 x 16 x 8 */
    {"aten::_int_mm", "[[16, 32], [32, 8]]", TWO("signed char"), "", ONE_FLOP(8192), 1280,
     TM_NUMBER_INT8, false},
    /* 2 x 8944 x 1024 x 1024; bytes of mm, and 1024 x 2 for the bias */
    {"aten::addmm", "[[1024], [8944, 1024], [1024, 1024], [], []]",
     "['" BF16 "', '" BF16 "', '" BF16 "', 'Scalar', 'Scalar']", "['', '', '', '1', '1']",
     ONE_FLOP(18756927488), 38733824, TM_NUMBER_BF16, false},
    /* 2 x 10 x 512 x 1000; 2 (1000 + 10 x 512 + 512 x 1000 + 10 x 1000) */
    {"aten::_addmm_activation", "[[1000], [10, 512], [512, 1000], [], [], []]",
     "['" HALF "', '" HALF "', '" HALF "', 'Scalar', 'Scalar', 'Scalar']", "", ONE_FLOP(10240000),
     1056240, TM_NUMBER_FP16, false},
    /* 2 x 2 x 768 x 768 x 3072; 2 (2 x 768 x 768 + 2 x 2 x 768 x 3072) */
    {"aten::bmm", "[[2, 768, 768], [2, 768, 3072], [2, 768, 3072]]", THREE(BF16), "",
     ONE_FLOP(7247757312), 21233664, TM_NUMBER_BF16, false},
    /* 2 x 32 x 1 x 559; 4 (32 + 559 + 32 x 559) */
    {"aten::bmm", "[[1, 32, 1], [1, 1, 559]]", TWO("float"), "['', '']", ONE_FLOP(35776), 73916,
     TM_NUMBER_SINGLE, false},
    /* 2 x 1 x 1 x 12 x 1; 2 (12 + 1 + 12 + 12) */
    {"aten::baddbmm", "[[1, 1, 12], [1, 1, 1], [1, 1, 12], [], []]",
     "['" BF16 "', '" BF16 "', '" BF16 "', 'Scalar', 'Scalar']", "", ONE_FLOP(24), 74,
     TM_NUMBER_BF16, false},
    /* 2 x 16 x 559 x 1024 x 2816; 2 (8944 x 1024 + 2816 x 1024 + 8944 x 2816) */
    {"aten::linear", "[[16, 559, 1024], [2816, 1024], []]", "['" BF16 "', '" BF16 "', '']", "",
     ONE_FLOP(51581550592), 74457088, TM_NUMBER_BF16, false},
    {"aten::linear", "[[5], [5]]", TWO("float"), "", ONE_FLOP(10), 44, TM_NUMBER_SINGLE, false},
    /* TraceLens gives the same for a real trace: 2 x 32 x 12288 x 4096; 2 (32 x 12288 + 4096 x
     * 12288 + 32 x 4096) */
    {"aiter::gemm_a16w16", "[[32, 12288], [4096, 12288], [], [], [], [], []]", TWO(BF16), "",
     ONE_FLOP(3221225472), 101711872, TM_NUMBER_BF16, false},
    /* 2 x 46 x 2880 x 201088; 2 (46 x 2880 + 201088 x 2880 + 46 x 201088) */
    {"vllm::rocm_unquantized_gemm", "[[46, 2880], [201088, 2880], []]", TWO(BF16), "['', '', '']",
     ONE_FLOP(53280276480), 1177031936, TM_NUMBER_BF16, false},
    /* the output is (14 + 2 - 2 - 1) / 2 + 1 = 7 wide: 2 x 10 x (512 x 256 x 3 x 3) x 7 x 7; 2 (10
     * x 256 x 14 x 14 + 512 x 256 x 9 + 10 x 512 x 7 x 7) */
    {"aten::convolution", "[[10, 256, 14, 14], [512, 256, 3, 3], [], [], [], [], [], [], []]",
     "['" BF16 "', '" BF16 "', '', 'ScalarList']", CONV("[2, 2]", "[1, 1]", "[1, 1]", "False"),
     ONE_FLOP(1156055040), 3864576, TM_NUMBER_BF16, false},
    /* one value for both directions; the dilated 3 x 3 kernel spans 5, so the output is 10 - 5 + 1
     * = 6 wide; 2 x 1 x (8 x 4 x 9) x 36; 4 (4 x 100 + 8 x 4 x 9 + 8 + 8 x 36) */
    {"aten::_convolution", "[[1, 4, 10, 10], [8, 4, 3, 3], [8]]", "['float', 'float', 'float']",
     CONV("1", "0", "[2]", "False"), ONE_FLOP(20736), 3936, TM_NUMBER_SINGLE, false},
    /* with 4 groups, the weight has 4 / 4 input channels: 2 x 2 x (4 x 1 x 9) x 8 x 8 */
    {"aten::convolution", "[[2, 4, 8, 8], [4, 1, 3, 3], []]", "['" HALF "', '" HALF "', '']",
     CONV("[1, 1]", "[1, 1]", "[1, 1]", "False"), ONE_FLOP(9216), 2120, TM_NUMBER_FP16, false},
    /* one dimension; the output is (16 - 4) / 4 + 1 = 4 long: 2 x 3 x (6 x 5 x 4) x 4; 2 (3 x 5 x
     * 16 + 6 x 5 x 4 + 3 x 6 x 4) */
    {"aten::convolution", "[[3, 5, 16], [6, 5, 4], []]", "['" HALF "', '" HALF "', '']",
     CONV("[4]", "[0]", "[1]", "False"), ONE_FLOP(2880), 864, TM_NUMBER_FP16, false},
    /* transposed, so counted at the positions of the input: 2 x 2 x (4 x 8 x 2 x 2) x 5 x 5 */
    {"aten::convolution", "[[2, 4, 5, 5], [4, 8, 2, 2], []]", "['" HALF "', '" HALF "', '']",
     CONV("[2, 2]", "[0, 0]", "[1, 1]", "True"), ONE_FLOP(12800), -1, TM_NUMBER_FP16, false},
    /* both gradients: 2 x 2 x 10 x (512 x 512 x 9) x 7 x 7; 2 (3 x 10 x 512 x 49 + 2 x 512 x 512 x
     * 9) for the gradient, the input, the weight, and the gradients of both */
    {"aten::convolution_backward", "[[10, 512, 7, 7], [10, 512, 7, 7], [512, 512, 3, 3]]",
     THREE(BF16), CONV_BACK("False", "[True, True, False]"), ONE_FLOP(4624220160), 10942464,
     TM_NUMBER_BF16, false},
    /* only the gradient of the weight: 2 x 10 x (512 x 512 x 9) x 49; 2 (2 x 10 x 512 x 49 + 2 x
     * 512 x 512 x 9) */
    {"aten::convolution_backward", "[[10, 512, 7, 7], [10, 512, 7, 7], [512, 512, 3, 3]]",
     THREE(BF16), CONV_BACK("False", "[False, True, False]"), ONE_FLOP(2312110080), 10440704,
     TM_NUMBER_BF16, false},
    /* transposed, the gradient of the input: 2 x 2 x (4 x 8 x 4) x 25; 2 (2 x 8 x 100 + 2 x 2 x 4 x
     * 25 + 4 x 8 x 4) */
    {"aten::convolution_backward", "[[2, 8, 10, 10], [2, 4, 5, 5], [4, 8, 2, 2]]", THREE(HALF),
     CONV_BACK("True", "[True, False, False]"), ONE_FLOP(12800), 4256, TM_NUMBER_FP16, false},
    /* 2 x 16 x 16 x 559 x 559 x (64 + 64), half of it if causal; 2 x 4 x 16 x 16 x 559 x 64 */
    {"aten::_scaled_dot_product_flash_attention",
     "[[16, 16, 559, 64], [16, 16, 559, 64], [16, 16, 559, 64], [], [], [], []]",
     "['" BF16 "', '" BF16 "', '" BF16 "', 'Scalar', 'Scalar', 'Scalar', 'Scalar']",
     "['', '', '', '0.', 'True', 'False', '0.125']", 20478754816, 10239377408, 73269248,
     TM_NUMBER_BF16, false},
    /* one query token, so causal or not is the same; k and v have 2 heads, q has 8: 2 x 8 x 1 x 100
     * x (4 + 6); 2 (8 x 4 + 2 x 100 x 4 + 2 x 100 x 6 + 8 x 6) */
    {"aten::_scaled_dot_product_flash_attention", "[[1, 8, 1, 4], [1, 2, 100, 4], [1, 2, 100, 6]]",
     THREE(HALF), "['', '', '', '0.', 'True']", ONE_FLOP(16000), 4160, TM_NUMBER_FP16, false},
    /* 2 x 1 x 2 x 8 x 8 x (3 x 4 + 2 x 4), half of it if causal; 2 x 2 (4 x 1 x 2 x 8 x 4) */
    {"aten::_scaled_dot_product_flash_attention_backward",
     "[[1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4]]", FIVE(BF16),
     "['', '', '', '', '', '', '', '', '8', '8', '0.', 'True']", 5120, 2560, 1024, TM_NUMBER_BF16,
     false},
    /* 2 x 3 x 2 x 5 x 7 x (4 + 6); 4 (3 x 2 x 5 x 4 + 3 x 2 x 7 x 4 + 3 x 2 x 7 x 6 + 3 x 2 x 5 x
     * 6) */
    {"aten::_scaled_dot_product_efficient_attention",
     "[[3, 2, 5, 4], [3, 2, 7, 4], [3, 2, 7, 6], [], [], [], []]",
     "['float', 'float', 'float', '', 'Scalar', 'Scalar', 'Scalar']",
     "['', '', '', '', 'True', '0.', 'False']", ONE_FLOP(4200), 2880, TM_NUMBER_SINGLE, false},
    /* the same as for flash */
    {"aten::_scaled_dot_product_efficient_attention_backward",
     "[[1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4], []]", FIVE(HALF),
     "['', '', '', '', '', '', '', '', '', '0.', '[True, True, True, False]', 'True']", 5120, 2560,
     1024, TM_NUMBER_FP16, false},
    /* 2 x 1 x 2 x 8 x 8 x (4 + 4) */
    {"aten::_scaled_dot_product_cudnn_attention", "[[1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4]]",
     THREE(HALF), "['', '', '', '', 'True', '0.', 'True', 'False']", 2048, 1024, 512,
     TM_NUMBER_FP16, false},
    {"aten::_scaled_dot_product_cudnn_attention_backward",
     "[[1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4]]", FIVE(HALF),
     "['', '', '', '', '', '', '', '', '', '', '', '8', '8', '0.', 'True']", 5120, 2560, 1024,
     TM_NUMBER_FP16, false},
    /* flash_attn, [batch, length, heads, head size]: 2 x 2 x 16 x 512 x 512 x (64 + 64), half of it
     * if causal; 2 x 4 x 2 x 16 x 512 x 64 */
    {"flash_attn::_flash_attn_forward", "[[2, 512, 16, 64], [2, 512, 16, 64], [2, 512, 16, 64]]",
     THREE(BF16), "['', '', '', '0.', '0.125', 'True', '-1', '-1', '0.', '', 'False']", 2147483648,
     1073741824, 8388608, TM_NUMBER_BF16, false},
    /* not causal, by the input after the scale: 2 x 1 x 2 x 8 x 6 x (3 x 4 + 2 x 4); 2 x 2 (2 x 8 x
     * 2 x 4 + 2 x 6 x 2 x 4) */
    {"flash_attn::_flash_attn_backward",
     "[[1, 8, 2, 4], [1, 8, 2, 4], [1, 6, 2, 4], [1, 6, 2, 4], [1, 8, 2, 4]]", FIVE(HALF),
     "['', '', '', '', '', '', '', '', '', '0.', '0.125', 'False']", ONE_FLOP(3840), 896,
     TM_NUMBER_FP16, false},
    /* packed; a dropout precedes the scale: 4 x 100 x 6 x 8 x 40; 2 x 4 x 100 x 6 x 8 */
    {"flash_attn::_flash_attn_varlen_forward", "[[100, 6, 8], [100, 6, 8], [100, 6, 8], [4], [4]]",
     FIVE(BF16), "['', '', '', '', '', '40', '40', '0.', '0.35', 'True', '-1', '-1', '0.']",
     ONE_FLOP(768000), 38400, TM_NUMBER_BF16, true},
    /* a token attends to 2 before it and to itself: 10 x 100 x 6 x 8 x 3; 2 x 8 x 100 x 6 x 8 */
    {"flash_attn::_flash_attn_varlen_backward",
     "[[100, 6, 8], [100, 6, 8], [100, 6, 8], [100, 6, 8], [100, 6, 8]]", FIVE(BF16),
     "['', '', '', '', '', '', '', '', '', '', '', '40', '40', '0.', '0.35', 'True', '2', '9']",
     ONE_FLOP(144000), 76800, TM_NUMBER_BF16, true},
    /* a token attends to at most 385: 4 x 16384 x 6 x 128 x 385; 2 x 4 x 16384 x 6 x 128 */
    {"flash_attn_3::fwd", "[[16384, 6, 128], [16384, 6, 128], [16384, 6, 128]]", THREE(BF16),
     PACKED("True", "384", "0"), ONE_FLOP(19377684480), 100663296, TM_NUMBER_BF16, true},
    /* without a window, but no sequence is longer than 2048: 4 x 16384 x 6 x 128 x 2048 */
    {"flash_attn_3::fwd", "[[16384, 6, 128], [16384, 6, 128], [16384, 6, 128]]", THREE(BF16),
     PACKED("False", "-1", "-1"), ONE_FLOP(103079215104), 100663296, TM_NUMBER_BF16, true},
    /* a token attends to 128 before it, 128 after it and itself: 10 x 16384 x 6 x 128 x 257 */
    {"flash_attn_3::bwd", "[[16384, 6, 128], [16384, 6, 128], [16384, 6, 128], [16384, 6, 128]]",
     FIVE(BF16), PACKED("False", "128", "128"), ONE_FLOP(32338083840), 201326592, TM_NUMBER_BF16,
     true},
};

/* Arguments that are missing or invalid. */
static const struct {
    const char *op, *dims, *concrete;
} unknown[] = {
    {"aten::mm", "", ""},
    {"aten::mm", "[[2, 3], [3", ""},
    {"aten::mm", "[[2, 3], [4, 5]]", ""},
    {"aten::mm", "[[[2, 3]], [[3, 5]]]", ""},
    {"aten::mm", "[[-2, 3], [3, 5]]", ""},
    {"aten::mm", "[[4294967296, 4294967296], [4294967296, 4294967296]]", ""},
    {"aten::mm", "[[2.5, 3], [3, 5]]", ""},
    {"aten::bmm", "[[2, 3, 4], [3, 4, 5]]", ""},
    {"aten::linear", "[[2, 3], [3, 2]]", ""},
    /* before 2023, strides were not recorded, so the size of the output is unknown */
    {"aten::convolution", "[[10, 256, 14, 14], [512, 256, 3, 3], []]", ""},
    {"aten::convolution", "[[1, 4, 2, 2], [8, 4, 3, 3]]", CONV("[1]", "[0]", "[1]", "False")},
    {"aten::convolution", "[[1, 4, 9, 9], [8, 4, 3, 3]]", CONV("[0]", "[0]", "[1]", "False")},
    {"aten::convolution", "[[1, 4, 9, 9], [8, 4, 3, 3]]", CONV("[]", "[0]", "[1]", "False")},
    {"aten::convolution_backward", "[[1, 4, 9, 9], [1, 4, 9, 9], [4, 4, 3, 3]]", ""},
    {"aten::_scaled_dot_product_flash_attention", "[[16, 16, 559], [16, 16, 559], [16]]", ""},
    {"flash_attn_3::fwd", "[[16384, 6, 128], [16384, 6, 128], [16384, 6, 128]]", ""},
    /* without a scale, the values after it are at other positions */
    {"flash_attn_3::fwd", "[[16384, 6, 128], [16384, 6, 128], [16384, 6, 128]]",
     "['', '', '', '2048', '2048', '', '', 'True', '384', '0', '0', '0.']"},
};

static tm_text quoted(const char *text, char into[512]) {
    size_t n = strlen(text);
    assert_true(n < 512);
    for (size_t i = 0; i <= n; i++)
        into[i] = text[i] == '\'' ? '"' : text[i];
    return (tm_text){into, n};
}

static bool work_of(const char *op, const char *const texts[3], tm_work *out) {
    char into[3][512];
    tm_counted counted = tm_counted_of(op, strlen(op));
    assert_int_not_equal(counted, TM_N_COUNTED);
    return tm_work_of(counted, quoted(texts[0], into[0]), quoted(texts[1], into[1]),
                      quoted(texts[2], into[2]), out);
}

TEST(work_is_that_counted_by_hand) {
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const texts[] = {cases[i].dims, cases[i].types, cases[i].concrete};
        tm_work w = {0};
        bool known = work_of(cases[i].op, texts, &w);
        if (!known || w.flop != cases[i].flop || w.causal_flop != cases[i].causal_flop ||
            w.bytes != cases[i].bytes || w.number != cases[i].number ||
            w.at_most != cases[i].at_most)
            fail_msg("%s %s: known %d, flop %lld, causal %lld, bytes %lld, %s, at most %d",
                     cases[i].op, cases[i].dims, known, (long long)w.flop, (long long)w.causal_flop,
                     (long long)w.bytes, tm_number_word(w.number), w.at_most);
    }
}

TEST(what_does_not_tell_is_unknown) {
    for (size_t i = 0; i < COUNT(unknown); i++) {
        const char *const texts[] = {unknown[i].dims, FIVE(BF16), unknown[i].concrete};
        tm_work w;
        if (work_of(unknown[i].op, texts, &w))
            fail_msg("%s %s: flop %lld", unknown[i].op, unknown[i].dims, (long long)w.flop);
    }
}

TEST(only_whole_names_are_counted) {
    static const char *const others[] = {"",
                                         "aten::m",
                                         "aten::mm_",
                                         "aten::matmul",
                                         "nanogpt::mm",
                                         "aten::convolution_overrid",
                                         "triton_poi_fused_mm_0"};
    for (size_t i = 0; i < COUNT(others); i++)
        assert_int_equal(tm_counted_of(others[i], strlen(others[i])), TM_N_COUNTED);
}

RUN_TESTS()
