#!/usr/bin/env bash
# self_test.sh <include/calque> <allowed.txt>
# Shows that check.sh reports each kind of fault, on a small tree made for the purpose.
set -uo pipefail
table=$2
check=$(dirname "$0")/check.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# expect <text or "clean"> <header> <content>
expect() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/$(dirname "$2")"
  printf '%b' "$3" > "$tree/$2"
  out=$(bash "$check" "$tree" "$table")
  status=$?
  if [[ $1 == clean ]]; then
    [[ $status == 0 ]] && return
  elif [[ $status == 1 && $out == *"$1"* ]]; then
    return
  fi
  echo "self_test: for $2 wanted '$1', got status $status: $out"
  failures=$((failures + 1))
}

expect clean core/a.hpp '#include <vector>\n#include "calque/core/b.hpp"\n'
expect clean array/a.hpp '#include "calque/core/b.hpp"\n#include "calque/memory/b.hpp"\n'
expect clean backend/cuda/a.hpp '#include <cub/cub.cuh>\n#include <cuda_runtime.h>\n'
expect clean calque.hpp '#include "calque/run/a.hpp"\n#include "calque/trace/a.hpp"\n'
expect clean ops/sort.hpp '#include "calque/call/a.hpp"\n'
expect 'ops/b.hpp:1 includes calque/call/a.hpp' ops/b.hpp '#include "calque/call/a.hpp"\n'
expect clean core/config.hpp '#if defined(__CUDACC__)\n#endif\n'
expect clean core/a.hpp '#include "calque/fwd.hpp"\n'
expect 'core/a.hpp:1 includes calque/memory/b.hpp' core/a.hpp '#include "calque/memory/b.hpp"\n'
expect 'plan/a.hpp:2 includes calque/backend/b.hpp' plan/a.hpp '\n #  include <calque/backend/b.hpp>\n'
expect 'run/a.hpp:1 includes calque/passes/b.hpp' run/a.hpp '#include "calque/passes/b.hpp"\n'
expect 'plan/a.hpp:1 includes calque/calque.hpp' plan/a.hpp '#include "calque/calque.hpp"\n'
expect 'vendor library' ops/a.hpp '#include <thrust/sort.h>\n'
expect 'vendor library' calque.hpp '#include <Eigen/Core>\n'
expect 'vendor library' core/a.hpp '#include <cuda_fp16.h>\n'
expect 'tests a compiler' core/a.hpp '#if defined(__clang__)\n#endif\n'
expect 'spells an include' core/a.hpp '#include "../memory/b.hpp"\n'
expect 'table does not list' odd/a.hpp '#include <vector>\n'
expect 'the limit is 400' core/a.hpp "$(printf '\\n%.0s' {1..401})"
expect 'no header under' readme.txt 'nothing\n'
echo "self_test: $failures failures"
(( failures == 0 ))
