/*
 * IS, the integer sort benchmark (NAS-91-002, section 2.2.6): ranks N integer
 * keys ten times, two keys changing before each ranking.
 *
 * The ranking is a counting sort behind one pass of buckets by the high bits
 * (NAS-99-011): each thread counts its share of the keys by bucket, the counts
 * give every thread its own place in every bucket, the keys are moved there,
 * and then whole buckets are counted by key value. A bucket's part of the
 * count table is small enough to stay in a near cache, and no two threads ever
 * write the same counter, so nothing here is atomic.
 *
 * Timed: the rankings, each with its partial verification (five watched keys).
 * Not timed: making the keys, one ranking for warm-up, the full verification,
 * which puts every key at its rank and looks whether the result is in order.
 */
#include "common/npb.h"
#include "reference/is.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOG2_KEYS = NPB_PICK(NPB_IS_LOG2_KEYS_),
    LOG2_MAX_KEY = NPB_PICK(NPB_IS_LOG2_MAX_KEY_),
    LOG2_BUCKETS = NPB_CLASS_ID == NPB_CLASS_S ? 9 : 10,
    ITERATIONS = NPB_PICK(NPB_IS_ITERATIONS_),
    KEYS = 1 << LOG2_KEYS,
    MAX_KEY = 1 << LOG2_MAX_KEY,
    BUCKETS = 1 << LOG2_BUCKETS,
    BUCKET_SHIFT = LOG2_MAX_KEY - LOG2_BUCKETS,
    BUCKET_WIDTH = 1 << BUCKET_SHIFT,
    WATCHED = 5
};

static const int watched_index[WATCHED] = NPB_PICK(NPB_IS_TEST_INDEX_);
static const int watched_rank[WATCHED] = NPB_PICK(NPB_IS_TEST_RANK_);
static const int watched_slope[WATCHED] = NPB_PICK(NPB_IS_TEST_SLOPE_);
static const int watched_shift[WATCHED] = NPB_PICK(NPB_IS_TEST_SHIFT_);

static int key[KEYS];          /* the keys; after full_verify, in order */
static int bucketed[KEYS];     /* the keys of the last ranking by bucket */
static int up_to[MAX_KEY];     /* up_to[v]: how many keys are v or less */
static int bucket_end[BUCKETS];
static int (*share)[BUCKETS];  /* share[t][b]: thread t's keys in bucket b */

/* Each key is a quarter of MAX_KEY times the sum of four random numbers. Every
 * thread skips to its own part of the sequence. */
static void make_keys(void)
{
#pragma omp parallel
    {
        int64_t threads = omp_get_num_threads();
        int64_t me = omp_get_thread_num();
        int first = (int)(KEYS * me / threads);
        int last = (int)(KEYS * (me + 1) / threads);
        double state = NPB_LCG_SEED;
        npb_randlc(&state, npb_lcg_power(NPB_LCG_A, (int64_t)4 * first));
        for (int i = first; i < last; i++) {
            double sum = npb_randlc(&state, NPB_LCG_A);
            for (int j = 1; j < 4; j++)
                sum += npb_randlc(&state, NPB_LCG_A);
            key[i] = (int)(MAX_KEY / 4 * sum);
        }
    }
}

/* One thread's part of a ranking. */
static void rank_in_team(void)
{
    int threads = omp_get_num_threads();
    int me = omp_get_thread_num();
    int *mine = share[me];
    int place[BUCKETS];

    memset(mine, 0, sizeof share[0]);
#pragma omp for schedule(static)
    for (int i = 0; i < KEYS; i++)
        mine[key[i] >> BUCKET_SHIFT]++;

    /* Keys lie by bucket and, within a bucket, by thread. */
    int before = 0;
    for (int b = 0; b < BUCKETS; b++) {
        for (int t = 0; t < me; t++)
            before += share[t][b];
        place[b] = before;
        for (int t = me; t < threads; t++)
            before += share[t][b];
        if (me == 0)
            bucket_end[b] = before;
    }

    /* The same share of the keys as above, and a barrier at the end. */
#pragma omp for schedule(static)
    for (int i = 0; i < KEYS; i++) {
        int k = key[i];
        bucketed[place[k >> BUCKET_SHIFT]++] = k;
    }

#pragma omp for schedule(static, 1)
    for (int b = 0; b < BUCKETS; b++) {
        int first = b > 0 ? bucket_end[b - 1] : 0;
        int low = b << BUCKET_SHIFT;
        memset(&up_to[low], 0, BUCKET_WIDTH * sizeof up_to[0]);
        for (int i = first; i < bucket_end[b]; i++)
            up_to[bucketed[i]]++;
        int sum = first;
        for (int v = low; v < low + BUCKET_WIDTH; v++) {
            sum += up_to[v];
            up_to[v] = sum;
        }
    }
}

/* Changes two keys as iteration k demands, ranks all, looks at the watched
 * keys as they were before the ranking. */
static bool rank_keys(int k)
{
    int value[WATCHED];
    key[k] = k;
    key[k + ITERATIONS] = MAX_KEY - k;
    for (int i = 0; i < WATCHED; i++)
        value[i] = key[watched_index[i]];

#pragma omp parallel
    rank_in_team();

    bool right = true;
    for (int i = 0; i < WATCHED; i++) {
        int want = watched_rank[i] + watched_slope[i] * (k + watched_shift[i]);
        int rank = value[i] > 0 ? up_to[value[i] - 1] : 0;
        if (rank != want) {
            printf(" * iteration %d, key %d: rank %d, reference %d\n", k,
                   watched_index[i], rank, want);
            right = false;
        }
    }
    return right;
}

/* Puts every key at its rank; equal keys take the ranks below up_to. */
static bool full_verify(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int b = 0; b < BUCKETS; b++) {
        int first = b > 0 ? bucket_end[b - 1] : 0;
        for (int i = first; i < bucket_end[b]; i++)
            key[--up_to[bucketed[i]]] = bucketed[i];
    }
#ifdef NPB_PERTURB
    int lowest = key[0];
    key[0] = key[KEYS - 1];
    key[KEYS - 1] = lowest;
#endif
    int wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int i = 1; i < KEYS; i++)
        wrong += key[i - 1] > key[i];
    if (wrong > 0)
        printf(" * full verification: %d keys out of order\n", wrong);
    return wrong == 0;
}

int main(void)
{
    struct npb_result result = {
        .name = "IS",
        .dimensions = 1,
        .size = {KEYS},
        .iterations = ITERATIONS,
        .operations = (double)ITERATIONS * KEYS,
        .operation = "keys ranked",
    };
    npb_banner(&result);
    share = calloc((size_t)omp_get_max_threads(), sizeof share[0]);
    if (share == NULL) {
        fprintf(stderr, "IS: no memory for the bucket counts\n");
        return 1;
    }
    make_keys();
    result.verified = rank_keys(1);

    double start = npb_wtime();
    for (int k = 1; k <= ITERATIONS; k++)
        result.verified &= rank_keys(k);
    result.seconds = npb_wtime() - start;

    result.verified &= full_verify();
    free(share);
    npb_report(&result);
    return npb_exit_status(&result);
}
