#!/bin/bash
# run.sh [ROUNDS [SIDE...]]: compares the times of the cases on several sides with those on the first
# one. The sides run in turn; the table has the medians of ROUNDS (default: 3) runs each, and the
# speed-up. Values that differ between the sides, and wrong ones, are marked. The sides (default: 1 2):
#
#   N         N devices of one process
#   Nr        N ranks of MPI with a GPU each, or an emulated device each
#   host:T    T threads of the host, without a device
#   cpu:RxT   R ranks of MPI whose devices are T threads each
#   cpu       the processors as one device
#   0,cpu     device 0 and the processors, which help it
#
# Sides of processors are bound to as many processors as they have threads. OMPVM_BENCH_OPTIONS are
# further options of ompvm, such as `--device=emulated:2`; CASES are the cases (default: all); FORMS
# are the forms (default: target plain). With WHOLE=1 the times are those of whole runs of each case
# alone: the second run, to which the first one's cache belongs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ -d "$here/mpi" ]; then
  export PATH="$here/mpi/bin:$PATH" LD_LIBRARY_PATH="$here/mpi/lib:${LD_LIBRARY_PATH:-}"
fi
rounds=${1:-3}
shift || true
sides=("${@:-1}")
[ $# -gt 0 ] || sides=(1 2)
results=$(mktemp)
caches=$(mktemp -d)
trap 'rm -rf "$results" "$caches"' EXIT
names="nbody monte_carlo black_scholes ray_tracer daxpy dot stencil structure_sum structure_add kmeans
  host_options host_nearest"

# Runs the cases of a form on a side.
measure() {
  local form=$1 side=$2
  local run=("$here/ompvm" run ${OMPVM_BENCH_OPTIONS:-}) program=("$here/$form.bc" ${CASES:-})
  local force=()
  [ "$form" = plain ] && force=(--offload=force)
  case $side in
  host:*)
    local threads=${side#host:}
    OMP_NUM_THREADS=$threads taskset -c "0-$((threads - 1))" "${run[@]}" --device=host "${program[@]}"
    ;;
  cpu:*x*)
    local ranks=${side#cpu:}
    local threads=${ranks#*x}
    ranks=${ranks%x*}
    OMP_NUM_THREADS=$threads taskset -c "0-$((ranks * threads - 1))" mpiexec -n "$ranks" \
      "${run[@]}" "${force[@]}" --device=cpu --devices=all "${program[@]}"
    ;;
  cpu) "${run[@]}" "${force[@]}" --device=cpu "${program[@]}" ;;
  *r)
    local each=("${run[@]}" "${force[@]}" --devices=all "${program[@]}") all=() n
    for ((n = 0; n < ${side%r}; n++)); do
      [ "$n" = 0 ] || all+=(:)
      all+=(-n 1 env "CUDA_VISIBLE_DEVICES=$n" "${each[@]}")
    done
    mpiexec "${all[@]}"
    ;;
  *) "${run[@]}" "${force[@]}" --devices="$side" "${program[@]}" ;;
  esac
}

# Runs each case twice on a side, and prints the seconds of the second run.
measure_whole() {
  local form=$1 side=$2 size= cases= case since seconds line
  for case in ${CASES:-}; do
    case $case in
    small | medium | large) size=$case ;;
    *) cases+=" $case" ;;
    esac
  done
  for case in ${cases:-$names}; do
    export OMPVM_CACHE_DIR="$caches/$form-${side//[:,]/-}-$case"
    CASES="$size $case" measure "$form" "$side" >"$caches/first"
    since=$(date +%s%N)
    line=$(CASES="$size $case" measure "$form" "$side")
    seconds=$(awk -v since="$since" -v now="$(date +%s%N)" 'BEGIN { print (now - since) / 1e9 }')
    echo "$line" | awk -v seconds="$seconds" '{ $2 = seconds; print }'
  done
}

for form in ${FORMS:-target plain}; do
  for round in $(seq "$rounds"); do
    for side in "${sides[@]}"; do
      "measure${WHOLE:+_whole}" "$form" "$side" | sed "s/^/$form $side /" >>"$results"
    done
  done
done
awk -v sides="${sides[*]}" '
  { key = $3 " " $1; if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
    n = ++runs[key, $2]; times[key, $2, n] = $4; values[key, $2] = $5 " " $6 }
  function median(key, side,   n, i, j, t, list) {
    n = runs[key, side]
    for (i = 1; i <= n; i++) list[i] = times[key, side, i]
    for (i = 2; i <= n; i++)
      for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
  }
  function title(side,   part) {
    if (sub(/^host:/, "", side)) return side " threads"
    if (sub(/^cpu:/, "", side)) { split(side, part, "x"); return part[1] " ranks of " part[2] " threads" }
    if (sub(/r$/, "", side)) return side " ranks"
    if (side == "cpu") return "processors"
    if (side ~ /cpu/) return "device and processors"
    return side (side == 1 ? " device" : " devices")
  }
  END {
    many = split(sides, s, " ")
    printf "| Case | Form | %s, ms |", title(s[1])
    for (i = 2; i <= many; i++) printf " %s, ms | times | value |", title(s[i])
    printf "\n|---|---|---:|"
    for (i = 2; i <= many; i++) printf "---:|---:|---|"
    print ""
    for (k = 1; k <= keys; k++) {
      key = order[k]; split(key, part, " ")
      one = median(key, s[1])
      printf "| %s | %s | %.3f |", part[1], part[2], one * 1000
      for (i = 2; i <= many; i++) {
        more = median(key, s[i])
        difference = values[key, s[i]] - values[key, s[1]]
        scale = values[key, s[1]] < 0 ? -values[key, s[1]] : values[key, s[1]]
        same = difference <= 1e-5 * scale && -difference <= 1e-5 * scale ? "same" : "DIFFERS"
        if (index(values[key, s[1]] values[key, s[i]], "WRONG")) same = "WRONG"
        printf " %.3f | %.2f | %s |", more * 1000, (more > 0 ? one / more : 0), same
      }
      print ""
    }
  }' "$results"
