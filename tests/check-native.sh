#!/bin/bash
# Checks the test programs themselves: builds each one natively with clang 22 and libomp and compares the outcome with what its
# leading comments declare. So a program that fails here is a wrong test, not a wrong virtual machine. Programs under unsupported/
# are not run: their `stderr-has: FILE:LINE` must be the line of a call to the entry declared before it, in the emitted IR.
# Usage: tests/check-native.sh [path or part of a path]...   (all programs without arguments); THREADS="1 2 4" by default.
set -u
cd "$(dirname "$0")" || exit 1
CLANG=${CLANG:-clang-22} CLANGXX=${CLANGXX:-clang++-22} THREADS=${THREADS:-1 2 4}
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
checked=0 failed=0 skipped=0

directive() { sed -n "/^\/\/ $2: /s///p" "$1"; }

complain() { echo "WRONG $1"; failed=$((failed + 1)); }

expected_stdout() { if [ -f "${1%.*}.stdout" ]; then cat "${1%.*}.stdout"; else directive "$1" stdout; fi; }

# unsupported/: each entry named must be called at the line named next.
check_ir() {
  "$cc" -O2 -fopenmp -g $flags -S -emit-llvm -o "$tmp/t.ll" "$1" 2>"$tmp/err" || { complain "$1: does not compile"; cat "$tmp/err"; return; }
  local entry= word
  while read -r word; do
    case $word in
    *" "*) entry= ;; # a description, which names no entry
    *.c:* | *.cpp:*)
      [ -n "$entry" ] || continue
      local line=${word##*:} found=0 id
      for id in $(grep -E "(call|invoke).*@$entry\(" "$tmp/t.ll" | grep -o '!dbg ![0-9]*' | cut -d' ' -f2 | sort -u); do
        grep -q "^$id = .*DILocation(line: $line," "$tmp/t.ll" && found=1
      done
      [ $found = 1 ] || complain "$1: no call of $entry at line $line" ;;
    *) entry=$word; grep -qE "(call|invoke).*@$entry\(" "$tmp/t.ll" || complain "$1: no call of $entry" ;;
    esac
  done < <(directive "$1" stderr-has)
}

check_run() {
  local level threads status want_status setting
  want_status=$(directive "$1" exit)
  setting=$(directive "$1" signal); [ -n "$setting" ] && want_status=$((128 + setting))
  expected_stdout "$1" >"$tmp/want"
  local vars; vars=$(directive "$1" env | tr '\n' ' ')
  local counts=$THREADS; [[ $vars == *OMP_NUM_THREADS* ]] && counts=fixed
  for level in ${levels:-O2}; do
    "$cc" "-$level" -fopenmp -g $flags -o "$tmp/t" "$1" $libs 2>"$tmp/err" || { complain "$1: does not compile at -$level"; cat "$tmp/err"; return; }
    [ -s "$tmp/err" ] && { echo "NOTE  $1: -$level warns"; head -3 "$tmp/err"; }
    for threads in $counts; do
      local set_threads=(); [ "$threads" = fixed ] || set_threads=("OMP_NUM_THREADS=$threads")
      { ( ulimit -c 0; exec env "${set_threads[@]}" $vars timeout 30 "$tmp/t" $(directive "$1" args) ) >"$tmp/out" 2>"$tmp/err" </dev/null; } 2>/dev/null
      status=$?
      [ $status = "${want_status:-0}" ] || complain "$1 -$level threads=$threads: status $status, declared ${want_status:-0}"
      cmp -s "$tmp/out" "$tmp/want" || { complain "$1 -$level threads=$threads: stdout"; diff "$tmp/want" "$tmp/out" | head -5; }
    done
  done
}

while read -r file; do
  if [ $# -gt 0 ]; then
    hit=0; for part in "$@"; do [[ $file == *$part* ]] && hit=1; done; [ $hit = 1 ] || continue
  fi
  cc=$CLANG; [[ $file == *.cpp ]] && cc=$CLANGXX
  flags=$(directive "$file" flags | tr '\n' ' ')
  libs=$(tr ' ' '\n' <<<"$flags" | grep '^-l')
  levels=$(directive "$file" levels)
  [ -n "$(directive "$file" native)" ] && { echo "SKIP  $file: $(directive "$file" native)"; skipped=$((skipped + 1)); continue; }
  checked=$((checked + 1))
  case $file in unsupported/*) check_ir "$file" ;; *) check_run "$file" ;; esac
done < <(find pass fail unsupported -name '*.c' -o -name '*.cpp' | sort)
echo "$checked programs checked, $skipped skipped, $failed outcomes wrong"
[ $failed = 0 ]
