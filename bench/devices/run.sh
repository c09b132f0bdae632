#!/bin/bash
# run.sh [ROUNDS [COUNT...]]: compares the time of the cases on COUNT devices (default: 2) with that
# on one. The sides run in turn; the table has the medians of ROUNDS (default: 3) runs each. Values
# that differ between the sides, and wrong ones, are marked. OMPVM_BENCH_OPTIONS are further options
# of ompvm, such as `--device=emulated:2`; CASES are the cases (default: all).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-3}
shift || true
counts=(1 "${@:-2}")
results=$(mktemp)
trap 'rm -f "$results"' EXIT
for form in target plain; do
  options=(${OMPVM_BENCH_OPTIONS:-})
  [ $form = plain ] && options+=(--offload=force)
  for round in $(seq "$rounds"); do
    for count in "${counts[@]}"; do
      "$here/ompvm" run "${options[@]}" --devices="$count" "$here/$form.bc" ${CASES:-} |
        sed "s/^/$form $count /" >>"$results"
    done
  done
done
awk -v counts="${counts[*]}" '
  { key = $3 " " $1; if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
    n = ++runs[key, $2]; times[key, $2, n] = $4; values[key, $2] = $5 " " $6 }
  function median(key, count,   n, i, j, t, list) {
    n = runs[key, count]
    for (i = 1; i <= n; i++) list[i] = times[key, count, i]
    for (i = 2; i <= n; i++)
      for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
  }
  END {
    many = split(counts, c, " ")
    printf "| Case | Form | 1 device, ms |"
    for (i = 2; i <= many; i++) printf " %d devices, ms | times | value |", c[i]
    printf "\n|---|---|---:|"
    for (i = 2; i <= many; i++) printf "---:|---:|---|"
    print ""
    for (k = 1; k <= keys; k++) {
      key = order[k]; split(key, part, " ")
      one = median(key, 1)
      printf "| %s | %s | %.3f |", part[1], part[2], one * 1000
      for (i = 2; i <= many; i++) {
        more = median(key, c[i])
        difference = values[key, c[i]] - values[key, 1]
        scale = values[key, 1] < 0 ? -values[key, 1] : values[key, 1]
        same = difference <= 1e-5 * scale && -difference <= 1e-5 * scale ? "same" : "DIFFERS"
        if (index(values[key, 1] values[key, c[i]], "WRONG")) same = "WRONG"
        printf " %.3f | %.2f | %s |", more * 1000, one / more, same
      }
      print ""
    }
  }' "$results"
