#include "solve.h"

#include <math.h>
#include <stdlib.h>

bool tm_normal_create(tm_normal *normal, int32_t n) {
    *normal = (tm_normal){.n = n};
    if ((size_t)n > SIZE_MAX / 64 / ((size_t)n + 1))
        return false;
    size_t unknowns = 2 * (size_t)n;
    normal->fixed = calloc(tm_normal_size(n) + 1, sizeof *normal->fixed);
    normal->lower = calloc(unknowns * (unknowns + 1) / 2 + 1, sizeof *normal->lower);
    normal->right = calloc(unknowns + 1, sizeof *normal->right);
    normal->column = calloc(2 * unknowns + 1, sizeof *normal->column);
    return normal->fixed && normal->lower && normal->right && normal->column;
}

void tm_normal_free(tm_normal *normal) {
    free(normal->fixed);
    free(normal->lower);
    free(normal->right);
    free(normal->column);
    *normal = (tm_normal){0};
}

void tm_normal_clear(tm_normal *normal) {
    memset(normal->fixed, 0, tm_normal_size(normal->n) * sizeof *normal->fixed);
}

static int64_t *right_of(tm_normal *normal) {
    return normal->fixed + tm_normal_block((size_t)normal->n, 0) * 4;
}

void tm_normal_add(tm_normal *normal, const tm_anchor *anchors, size_t n, const double scales[2]) {
    double sum = 0.0, mean = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += anchors[i].weight;
        mean += anchors[i].weight * anchors[i].y;
    }
    if (!(sum > 0.0))
        return;
    mean /= sum;
    int64_t *right = right_of(normal);
    double scale = scales[0];
    for (size_t i = 0; i < n; i++) {
        const tm_anchor *g = anchors + i;
        if (g->weight == 0.0)
            continue;
        int64_t *row = normal->fixed + tm_normal_block((size_t)g->domain, 0) * 4;
        int64_t *own = row + (size_t)g->domain * 4;
        double push = g->weight * (mean - g->y), part = -g->weight / sum;
        for (size_t j = 0; j <= i; j++) {
            const tm_anchor *h = anchors + j;
            double shift = part * h->weight, rate = shift * h->x;
            int64_t *block = row + (size_t)h->domain * 4;
            block[0] += tm_exact_fixed(shift, scale);
            block[1] += tm_exact_fixed(rate, scale);
            block[2] += tm_exact_fixed(shift * g->x, scale);
            block[3] += tm_exact_fixed(rate * g->x, scale);
        }
        own[0] += tm_exact_fixed(g->weight, scale);
        own[1] += tm_exact_fixed(g->weight * g->x, scale);
        own[2] += tm_exact_fixed(g->weight * g->x, scale);
        own[3] += tm_exact_fixed(g->weight * g->x * g->x, scale);
        right[2 * (size_t)g->domain] += tm_exact_fixed(push, scales[1]);
        right[2 * (size_t)g->domain + 1] += tm_exact_fixed(push * g->x, scales[1]);
    }
}

void tm_normal_expand(tm_normal *normal, const double scales[2]) {
    const int64_t *right = right_of(normal);
    for (size_t g = 0; g < (size_t)normal->n; g++) {
        for (size_t h = 0; h <= g; h++) {
            const int64_t *block = normal->fixed + tm_normal_block(g, h) * 4;
            for (size_t i = 0; i < 4; i++)
                if (h < g || i != 1) /* entry 1 of a diagonal block is above the diagonal */
                    *tm_normal_at(normal, 2 * g + i / 2, 2 * h + i % 2) =
                        tm_exact_real(block[i], scales[0]);
        }
        normal->right[2 * g] = tm_exact_real(right[2 * g], scales[1]);
        normal->right[2 * g + 1] = tm_exact_real(right[2 * g + 1], scales[1]);
    }
}

void tm_normal_pin(tm_normal *normal, size_t r) {
    for (size_t c = 0; c < r; c++)
        *tm_normal_at(normal, r, c) = 0.0;
    for (size_t below = r + 1; below < 2 * (size_t)normal->n; below++)
        *tm_normal_at(normal, below, r) = 0.0;
    *tm_normal_at(normal, r, r) = 1.0;
    normal->right[r] = 0.0;
}

/* Returns the scalar product. It uses four partial sums, because a processor can add these in
 * parallel. A compiler must not split a single sum itself, because this would change the
 * rounding. */
static double dot(const double *a, const double *b, size_t n) {
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void tm_normal_factor(tm_normal *normal) {
    /* A pivot below this share of its diagonal is a rounding error and counts as 0. */
    const double nothing = 1e-13, infinite = 1e150;
    for (size_t r = 0; r < 2 * (size_t)normal->n; r++) {
        double *row = tm_normal_at(normal, r, 0);
        for (size_t c = 0; c < r; c++) {
            const double *other = tm_normal_at(normal, c, 0);
            row[c] = (row[c] - dot(row, other, c)) / other[c];
        }
        double pivot = row[r] - dot(row, row, r);
        row[r] = pivot > nothing * row[r] ? sqrt(pivot) : infinite;
    }
}

void tm_normal_solve(tm_normal *normal) {
    size_t n = 2 * (size_t)normal->n;
    double *x = normal->right;
    for (size_t r = 0; r < n; r++) {
        const double *row = tm_normal_at(normal, r, 0);
        x[r] = (x[r] - dot(row, x, r)) / row[r];
    }
    for (size_t r = n; r-- > 0;) {
        const double *row = tm_normal_at(normal, r, 0);
        x[r] /= row[r];
        for (size_t c = 0; c < r; c++)
            x[c] -= row[c] * x[r];
    }
}

void tm_normal_covariance(tm_normal *normal, int32_t domain, double *shift, double *both,
                          double *rate) {
    /* If M is the inverse of the factor L, the inverse of the matrix is M'M. Columns of M are 0
     * above the diagonal. */
    size_t n = 2 * (size_t)normal->n, first = 2 * (size_t)domain;
    double *columns[2] = {normal->column, normal->column + n};
    for (size_t k = 0; k < 2; k++) {
        double *column = columns[k];
        column[first] = 0.0;
        column[first + k] = 1.0 / *tm_normal_at(normal, first + k, first + k);
        for (size_t r = first + k + 1; r < n; r++) {
            const double *row = tm_normal_at(normal, r, first);
            column[r] = -dot(row, column + first, r - first) / row[r - first];
        }
    }
    *shift = dot(columns[0] + first, columns[0] + first, n - first);
    *both = dot(columns[0] + first, columns[1] + first, n - first);
    *rate = dot(columns[1] + first, columns[1] + first, n - first);
}
