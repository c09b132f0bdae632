#!/bin/bash
# Checks the sources of the differential test natively: every program given (default: all of them) is compiled with
# clang-22 at each of its levels and, unless it says otherwise, once more with UndefinedBehaviorSanitizer; all builds must
# print the same, end with the status that the program's directives state, and leave the sanitizer silent.
# It does not run anything under the interpreter: the Rust harness does that with the same directives (README.md).
# Environment: JOBS (compilations at once, default 2), SANITIZE=0 leaves the sanitizer build out.
here=$(cd "$(dirname "$0")" && pwd)

directive() { # file name -> value of the directive, empty when absent
  sed -n -E '/^(\/\/|;)/!q; s/^(\/\/|;) '"$2"': ?(.*)$/\2/p' "$1" | head -n 1
}

check_one() {
  local src=$1 name dir cc flags levels want status level out ref="" have_ref=0 args env_kv stdin_text
  name=${src#"$here"/}
  dir=$(mktemp -d)
  case $src in *.cpp) cc=(clang++-22) ;; *) cc=(clang-22) ;; esac
  read -r -a flags <<<"$(directive "$src" flags)"
  read -r -a args <<<"$(directive "$src" args)"
  read -r -a env_kv <<<"$(directive "$src" env)"
  stdin_text=$(directive "$src" stdin)
  levels=$(directive "$src" levels)
  want=$(directive "$src" exit)
  status=$(directive "$src" signal)
  if [ -n "$status" ]; then want=$((128 + status)); fi
  want=${want:-0}
  local -a builds
  for level in ${levels:-O0 O2}; do builds+=("$level"); done
  case $src in *.ll) ;; *)
    if [ "${SANITIZE:-1}" = 1 ] && [ -z "$(directive "$src" no-sanitize)" ]; then builds+=(ubsan); fi ;;
  esac
  for level in "${builds[@]}"; do
    local -a opt=("-$level")
    [ "$level" = ubsan ] && opt=(-O1 -fsanitize=undefined -fno-sanitize-recover=undefined)
    if ! "${cc[@]}" "${opt[@]}" -Wall -Wno-override-module "${flags[@]}" "$src" -o "$dir/p" -lm 2>"$dir/err"; then
      echo "FAIL $name: does not compile at $level"; head -n 20 "$dir/err"; rm -rf "$dir"; return 1
    fi
    if [ -s "$dir/err" ] && [ "$level" != ubsan ]; then echo "WARN $name ($level)"; head -n 6 "$dir/err"; fi
    (cd "$dir" && printf '%b' "$stdin_text" | timeout 20 env "${env_kv[@]}" ./p "${args[@]}" >out 2>err2) 2>/dev/null
    status=$?
    if [ "$status" != "$want" ]; then
      echo "FAIL $name: status $status at $level, not $want"; tail -n 5 "$dir/out" "$dir/err2"; rm -rf "$dir"; return 1
    fi
    out=$(cksum <"$dir/out")
    if [ $have_ref = 0 ]; then
      ref=$out; have_ref=1; cp "$dir/out" "$dir/ref"
      if [ ! -s "$dir/out" ]; then echo "FAIL $name: prints nothing"; rm -rf "$dir"; return 1; fi
    elif [ "$out" != "$ref" ]; then
      echo "FAIL $name: $level prints something else than ${builds[0]}"; diff "$dir/ref" "$dir/out" | head -n 8; rm -rf "$dir"; return 1
    fi
  done
  rm -rf "$dir"
}

if [ "$1" = --one ]; then check_one "$2"; exit $?; fi
if [ $# = 0 ]; then set -- "$here"/c/*.c "$here"/cpp/*.cpp "$here"/ir/*.ll; fi
for f in "$@"; do realpath "$f"; done | xargs -P "${JOBS:-2}" -n 1 "$0" --one
rc=$?
if [ $rc = 0 ]; then echo "$# programs agree"; else echo "some programs failed"; fi
exit $((rc != 0))
