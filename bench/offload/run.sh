#!/bin/bash
# Runs what lies beside it: the offload tests on a device, then the measurements beside CUDA.
#
#   run.sh OUT [DEVICE]
#
# OUT gets `tests.txt`, `omp.txt`, `cuda.txt`, `warm.txt` and `machine.txt`. DEVICE is what
# `ompvm --device` takes (default 0); without a GPU, `emulated` runs the tests alone. Needs nvcc for
# the comparison. Table: the case, ours, CUDA's, and how many times worse we are.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?folder for results}
device=${2:-0}
mkdir -p "$out"
work=$(mktemp -d)
cd "$work" || exit 1
xz -dkc "$here/ompvm.xz" >ompvm && chmod +x ompvm || exit 1
export OMPVM_CACHE_DIR=$work/cache device
{ nvidia-smi; ldd ./ompvm; ls /usr/local/cuda/nvvm/libdevice; } >"$out/machine.txt" 2>&1

# A program passes when it ends as it should and ran on the device: what falls back says so.
one() {
  local file=$1 name verdict=FAIL fails=0 regions=off settings=()
  name=$(basename "$file" .bc)
  case $name in fail_*) fails=1 ;; auto_offload_*) regions=force ;; esac
  [ -e "${file%.bc}.env" ] && mapfile -t settings <"${file%.bc}.env"
  timeout -s KILL 20 env "${settings[@]}" ./ompvm --device "$device" --offload "$regions" "$file" >"$name.out" 2>"$name.err"
  local status=$?
  if [ $fails = 1 ]; then
    [ $status != 0 ] && [ $status != 137 ] && verdict=pass
  elif [ $status = 0 ]; then
    verdict=pass
    grep -q '^ompvm: ' "$name.err" && verdict=fell-back
  fi
  {
    echo "== $verdict $status $name"
    if [ $verdict != pass ] || [ $fails = 1 ]; then
      head -c 700 "$name.out" | head -n 6
      head -c 900 "$name.err" | head -n 6
    fi
  } >"$name.result"
}
export -f one
ls "$here"/tests/*.bc | timeout "${TESTS_LIMIT:-150}" xargs -P "${JOBS:-8}" -I{} bash -c 'one {}' 2>/dev/null
cat ./*.result >"$out/tests.txt"
grep '^== ' "$out/tests.txt" | awk '{print $2}' | sort | uniq -c
grep '^== ' "$out/tests.txt" | grep -v '^== pass'
[ "$device" = emulated ] && exit 0

# The second run of ours finds its kernels in the cache.
nvcc -O3 -arch=native -o cuda "$here/cuda.cu" >"$out/cuda.txt" 2>&1 && timeout 100 ./cuda >"$out/cuda.txt" 2>&1
timeout 100 ./ompvm --device "$device" "$here/omp.bc" >"$out/omp.txt" 2>&1
timeout 100 ./ompvm --device "$device" --offload-report "$here/omp.bc" empty >"$out/warm.txt" 2>&1
printf '%-14s %10s %10s %-10s %s\n' case ompvm cuda unit ratio
awk 'NR == FNR { cuda[$1] = $2; next }
     ($1 in cuda) && NF == 4 { ratio = $4 == "less" ? $2 / cuda[$1] : cuda[$1] / $2
       printf "%-14s %10s %10s %-10s %.2f\n", $1, $2, cuda[$1], $3, ratio }' "$out/cuda.txt" "$out/omp.txt"
grep -h 'WRONG\|^ompvm' "$out/omp.txt" "$out/cuda.txt" | head -n 20
cat "$out/warm.txt"

# The same without `target`. The first run compiles; where regions run is in the report.
for when in force auto; do
  timeout 200 ./ompvm --device "$device" --offload "$when" --offload-report "$here/auto_offload.bc" >"$out/auto_offload-$when.txt" 2>&1
  echo "without target, --offload=$when:"
  awk 'NR == FNR { cuda[$1] = $2; next }
       NF == 4 && ($4 == "more" || $4 == "less") { ratio = "-"
         if ($1 in cuda) ratio = sprintf("%.2f", $4 == "less" ? $2 / cuda[$1] : cuda[$1] / $2)
         printf "%-14s %10s %10s %-10s %s\n", $1, $2, cuda[$1], $3, ratio }' "$out/cuda.txt" "$out/auto_offload-$when.txt"
  grep -h 'WRONG\|^ompvm' "$out/auto_offload-$when.txt" | head -n 20
done
timeout 200 ./ompvm --device host "$here/auto_offload.bc" >"$out/auto_offload-host.txt" 2>&1
echo "on the host:"
cat "$out/auto_offload-host.txt"
