// OpenMP 5.2, section 10.1: threads of finished regions serve later ones. Many teams of many shapes, nested and in threads
// that OpenMP did not create, never run at the same time, so that the process has few threads at its end.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=4 OMP_MAX_ACTIVE_LEVELS=4
#include "../../check.h"
#include <dirent.h>
#include <pthread.h>

static long sum;
static omp_lock_t lock[4];

static void region(int size, int levels) {
#pragma omp parallel num_threads(size)
  {
#pragma omp atomic
    sum++;
    if (levels > 1) {
      omp_set_lock(&lock[levels]);
      region(2 + (size + omp_get_thread_num()) % 3, levels - 1);
      omp_unset_lock(&lock[levels]);
    }
  }
}

static void *elsewhere(void *size) {
#pragma omp parallel num_threads((int)(long)size)
#pragma omp critical(threads_come_back)
  region(2 + (int)(long)size % 3, 2);
  return NULL;
}

static int threads(void) {
  int count = 0;
  DIR *dir = opendir("/proc/self/task");
  for (struct dirent *entry; (entry = readdir(dir)); count += entry->d_name[0] != '.') {}
  closedir(dir);
  return count;
}

int main(void) {
  for (int i = 0; i < 4; i++) omp_init_lock(&lock[i]);
  for (int round = 0; round < 60; round++) {
    pthread_t other;
    pthread_create(&other, NULL, elsewhere, (void *)(2L + round % 4));
    pthread_join(other, NULL);
    region(2 + round % 5, 3);
  }
  CHECK(sum > 0);
  CHECK(threads() < 100 + 4 * omp_get_num_procs());
  return DONE();
}
