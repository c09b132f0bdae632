#!/bin/bash
# Runs the NAS benchmarks that lie in `npb` beside it: on a device, natively with libomp, on the host.
#
#   npb.sh OUT [CLASSES] [THREADS] [DEVICE]        npb.sh out "A B C" 16 0
#
# OUT gets each run's output and `npb.txt`, the table: verified on the device or not, seconds there,
# seconds natively (clang -O2, libomp) and of ompvm on the host with THREADS threads, and how many
# times faster than these the device is. CUDA=FOLDER names a folder with programs `ep.A`, `cg.B`, ...
# that report as the benchmarks do, which then have two columns more: their seconds, and ours over
# theirs. A run may take LIMIT (180) seconds.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?folder for results}
classes=${2:-A B C}
threads=${3:-16}
device=${4:-0}
mkdir -p "$out"
work=$(mktemp -d)
if [ -e "$here/ompvm.xz" ]; then
  xz -dkc "$here/ompvm.xz" >"$work/ompvm" && chmod +x "$work/ompvm" || exit 1
fi
ompvm=${OMPVM:-$work/ompvm}
export OMPVM_CACHE_DIR=$work/cache OMP_NUM_THREADS=$threads OMP_PROC_BIND=close OMP_PLACES=cores

# once FILE COMMAND...: the seconds that a run reports, `-` if it has not verified.
once() {
  local file=$out/$1 seconds
  shift
  timeout -s KILL "${LIMIT:-180}" "$@" >"$file" 2>"$file.err" </dev/null
  seconds=$(awk -F= '/Time in seconds/ { print $2 + 0 }' "$file")
  if grep -q 'erification *= *SUCCESSFUL' "$file" && [ -n "$seconds" ]; then
    echo "$seconds"
  else
    echo -
  fi
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (a + 0 > 0 && b + 0 > 0) printf "%.2f", a / b; else printf "-" }'; }

{
  printf '%-4s %-9s %10s %10s %10s %8s %8s %10s %8s\n' \
    name verified device native host native/d host/d cuda d/cuda
  for class in $classes; do
    for name in ep cg mg ft; do
      stem=$name.$class
      d=$(once "$stem.device" "$ompvm" --device "$device" --offload-report "$here/npb/$stem.target.bc")
      n=$(LD_LIBRARY_PATH=$here/npb/lib once "$stem.native" "$here/npb/$stem")
      h=$(once "$stem.host" "$ompvm" run "$here/npb/$stem.bc")
      c=-
      [ -n "${CUDA:-}" ] && [ -x "$CUDA/$stem" ] && c=$(once "$stem.cuda" "$CUDA/$stem")
      verified=yes
      [ "$d" = - ] && verified=NO
      printf '%-4s %-9s %10s %10s %10s %8s %8s %10s %8s\n' "$stem" "$verified" "$d" "$n" "$h" \
        "$(ratio "$n" "$d")" "$(ratio "$h" "$d")" "$c" "$(ratio "$d" "$c")"
    done
  done
} | tee "$out/npb.txt"
# What should have run on the device and did not.
grep -H 'on the host' "$out"/*.device.err | cut -c1-300
rm -rf "$work"
