// OpenMP 5.2, section 13.5: target data, target update, target enter and exit data.
// flags: -fopenmp-targets=x86_64-pc-linux-gnu
// exit: 125
// stderr-has: __tgt_target_data_begin_mapper
// stderr-has: target_data.c:12
// stderr-has: __tgt_target_data_update_mapper
// stderr-has: target_data.c:13
// stderr-has: __tgt_target_data_end_mapper
// stderr-has: target_data.c:14
int main(void) {
  int x = 0;
#pragma omp target enter data map(to : x)
#pragma omp target update from(x)
#pragma omp target exit data map(from : x)
  return x;
}
