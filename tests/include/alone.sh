#!/usr/bin/env bash
# alone.sh <compiler> <include folder>: every public header compiles with nothing before it, twice.
set -uo pipefail
export compiler=$1 include=$2 LC_ALL=C

check() {
  if ! output=$(printf '#include "%s"\n#include "%s"\n' "$1" "$1" |
    "$compiler" -x c++ -std=c++20 -fsyntax-only -Wall -Wextra -Wconversion -Werror \
      -I "$include" - 2>&1); then
    printf 'include: %s does not compile alone:\n%s\n' "$1" "${output:0:2000}"
    return 1
  fi
}
export -f check

# What needs CUDA's own headers is compiled by nvcc instead, what needs threads or BLAS by tests/threads.
mapfile -t headers < <(cd "$include" &&
  find calque -name '*.hpp' -not -path '*/cuda/*' -not -path '*/parallel/*' | sort)
(( ${#headers[@]} > 0 )) || { echo "include: no header in $include/calque"; exit 1; }
printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I{} bash -c 'check {}' || exit 1
echo "include: ${#headers[@]} headers compile alone"
