/* Random numbers that are the same on every machine: only integers, no libm. */
#ifndef TMERGE_SYNTH_RNG_H
#define TMERGE_SYNTH_RNG_H

#include <stdint.h>

/* State of one xoshiro256** stream (Blackman and Vigna, public domain algorithm). */
typedef struct tms_rng {
    uint64_t s[4];
} tms_rng;

/* A step of splitmix64, which turns similar seeds into very different states. */
static inline uint64_t tms_splitmix64(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** Starts a sequence of random numbers, chosen by (seed, a, b). Each step of each rank has its own
 * sequence. So a single rank can be simulated again, and a change in one step does not affect later
 * steps. */
static inline tms_rng tms_rng_start(uint64_t seed, uint64_t a, uint64_t b) {
    tms_rng rng;
    uint64_t state = seed;

    state = tms_splitmix64(&state) ^ a;
    state = tms_splitmix64(&state) ^ b;
    for (int i = 0; i < 4; i++) {
        rng.s[i] = tms_splitmix64(&state);
    }
    return rng;
}

/* Returns the next 64 random bits. */
static inline uint64_t tms_rng_next(tms_rng *rng) {
    uint64_t *s = rng->s;
    uint64_t x5 = s[1] * 5u;
    uint64_t result = ((x5 << 7) | (x5 >> 57)) * 9u;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Returns a number in [low, high); high - low must be below 2^31. The probabilities of two numbers
 * differ by at most 2^-32. */
static inline int64_t tms_rng_range(tms_rng *rng, int64_t low, int64_t high) {
    uint64_t span = (uint64_t)(high - low);

    return low + (int64_t)(((tms_rng_next(rng) >> 32) * span) >> 32);
}

/* Returns value * ppm / 1e6. Does not overflow for values up to 1e17 and ppm up to 1e8. */
static inline int64_t tms_scale_ppm(int64_t value, int64_t ppm) {
    return value / 1000000 * ppm + value % 1000000 * ppm / 1000000;
}

/** Returns a duration with mean @p mean_ns and standard deviation @p sigma_ppm (parts per million
 * of the mean), at least a tenth of the mean and at least 1 ns. It is a sum of four uniform 16-bit
 * numbers: close to normal, and at most 3.46 sigma from the mean. */
static inline int64_t tms_rng_around(tms_rng *rng, int64_t mean_ns, int64_t sigma_ppm) {
    uint64_t bits = tms_rng_next(rng);
    uint64_t sum = (bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff);
    int64_t deviation = (int64_t)(sum + (bits >> 48)) - 131070;
    /* The sum of four uniform numbers of width 65536 has a standard deviation of 65536/sqrt(3) =
     * 37837. */
    int64_t value = mean_ns + tms_scale_ppm(mean_ns, deviation * sigma_ppm / 37837);
    int64_t least = mean_ns / 10 > 1 ? mean_ns / 10 : 1;

    return value > least ? value : least;
}

#endif
