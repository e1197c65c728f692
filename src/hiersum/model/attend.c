/* Attention of few queries to many keys: softmax(scale * q k) v for each cluster and head.

   A step of search has one query per hypothesis, so its cost is reading the keys and values. Here each is
   read once for all queries. Keys come in tiles of 32 tokens, feature by feature, so that a vector
   holds one feature of 16 tokens and no sums across a vector are needed. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TILE 32
#define MAX_QUERIES 8
typedef float v16 __attribute__((vector_size(64)));
typedef int i16 __attribute__((vector_size(64)));

static inline v16 load(const float *from) {
    v16 x;
    memcpy(&x, from, sizeof x);
    return x;
}

static inline void store(float *to, v16 x) { memcpy(to, &x, sizeof x); }

static inline v16 all(float x) { return x - (v16){0}; }

static inline v16 larger(v16 x, v16 y) {
    i16 is_larger = x > y;
    return (v16)(((i16)x & is_larger) | ((i16)y & ~is_larger));
}

/* e^x for x <= 0, by Cephes: x = n ln 2 + r, and a polynomial for e^r. */
static inline v16 exponential(v16 x) {
    x = larger(x, all(-87.0f));
    v16 scaled = x * 1.44269504088896341f - 0.5f;
    i16 n = __builtin_convertvector(scaled, i16); /* towards zero, which is up for x <= 0 */
    v16 whole = __builtin_convertvector(n, v16);
    v16 r = x - whole * 0.693359375f + whole * 2.12194440e-4f;
    v16 y = all(1.9875691500e-4f);
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * r * r + r + 1.0f;
    i16 bits = (n + 127) << 23;
    v16 power;
    memcpy(&power, &bits, sizeof power);
    return y * power;
}

/* One head of one cluster; N and K are constants where this is inlined. */
static inline __attribute__((always_inline)) void attend_head(
    const int N, const int K, const float *query, long query_stride, const float *keys,
    const float *values, float *mixed, long num_tokens, float scale, float *weights) {
    const long padded = (num_tokens + TILE - 1) / TILE * TILE;
    float q[MAX_QUERIES * 64];
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++) q[n * K + k] = scale * query[n * query_stride + k];
    for (long at = 0; at < padded; at += TILE) {
        const float *tile = keys + at * K;
        v16 low[N], high[N];
        for (int n = 0; n < N; n++) low[n] = high[n] = all(0);
        for (int k = 0; k < K; k++) {
            v16 a = load(tile + k * TILE), b = load(tile + k * TILE + 16);
            for (int n = 0; n < N; n++) {
                low[n] += q[n * K + k] * a;
                high[n] += q[n * K + k] * b;
            }
        }
        for (int n = 0; n < N; n++) {
            store(weights + n * padded + at, low[n]);
            store(weights + n * padded + at + 16, high[n]);
        }
    }
    float total[N];
    for (int n = 0; n < N; n++) {
        float *row = weights + n * padded;
        for (long m = num_tokens; m < padded; m++) row[m] = -INFINITY;
        v16 best = load(row), sum = all(0);
        for (long m = 16; m < padded; m += 16) best = larger(load(row + m), best);
        float highest = best[0];
        for (int i = 1; i < 16; i++) highest = best[i] > highest ? best[i] : highest;
        for (long m = 0; m < padded; m += 16) {
            v16 x = exponential(load(row + m) - highest);
            store(row + m, x);
            if (m + 16 <= num_tokens) sum += x;
        }
        total[n] = 0;
        for (int i = 0; i < 16; i++) total[n] += sum[i];
        for (long m = num_tokens / 16 * 16; m < num_tokens; m++) total[n] += row[m];
    }
    v16 sums[N][K / 16];
    for (int n = 0; n < N; n++)
        for (int j = 0; j < K / 16; j++) sums[n][j] = all(0);
    for (long m = 0; m < num_tokens; m++)
        for (int j = 0; j < K / 16; j++) {
            v16 value = load(values + m * K + 16 * j);
            for (int n = 0; n < N; n++) sums[n][j] += weights[n * padded + m] * value;
        }
    for (int n = 0; n < N; n++)
        for (int j = 0; j < K / 16; j++) store(mixed + n * query_stride + 16 * j, sums[n][j] / total[n]);
}

#define CASE(n, k) \
    case n: \
        attend_head(n, k, query, heads *k, keys, values, mixed, tokens, scale, weights); \
        break;
#define CASES(k) \
    switch (queries) { CASE(1, k) CASE(2, k) CASE(3, k) CASE(4, k) CASE(5, k) CASE(6, k) CASE(7, k) CASE(8, k) }

/* queries_CNHK, keys_C[H][tile][K][TILE], values_CHMK -> mixed_CNHK; 1 if there was no memory. */
int attend(const float *all_queries, const float *all_keys, const float *all_values, float *all_mixed,
           long clusters, long queries, long heads, long width, long tokens, float scale, int threads) {
    const long padded = (tokens + TILE - 1) / TILE * TILE;
    int failed = 0;
#pragma omp parallel num_threads(threads)
    {
        float *weights = malloc(queries * padded * sizeof(float));
        if (!weights) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for schedule(static)
        for (long place = 0; place < clusters * heads; place++) {
            if (!weights) continue;
            const long start = (place / heads * queries * heads + place % heads) * width;
            const float *query = all_queries + start;
            const float *keys = all_keys + place * padded * width;
            const float *values = all_values + place * tokens * width;
            float *mixed = all_mixed + start;
            if (width == 32) CASES(32) else CASES(64)
        }
        free(weights);
    }
    return failed;
}
