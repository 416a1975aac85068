#!/usr/bin/env bash
# run.sh twin|fail <compiler> <file.cpp> <include folder>
# `twin`: the file compiles with CALQUE_TWIN defined, without warnings.
# `fail`: without it the file does not compile, and the first line of the compiler's output that
# holds "error:" matches every `// expect: regex` of the file (also `// expect-g++:` and
# `// expect-clang++:` under that compiler).
set -uo pipefail
mode=$1 compiler=$2 file=$3 include=$4
export LC_ALL=C
flags=(-std=c++20 -fsyntax-only -Wall -Wextra -Wconversion -I "$include")

if [[ $mode == twin ]]; then
  "$compiler" "${flags[@]}" -Werror -DCALQUE_TWIN "$file" && exit 0
  echo "compile_fail: the compiling twin in $file does not compile"
  exit 1
fi

kind=g++
"$compiler" --version | grep -q clang && kind=clang++
mapfile -t expected < <(grep -E "^// expect(-${kind//+/\\+})?: " "$file" | sed -E 's|^// expect[^:]*: ||')
if (( ${#expected[@]} == 0 )); then
  echo "compile_fail: $file holds no '// expect: regex' line"
  exit 1
fi
if output=$("$compiler" "${flags[@]}" "$file" 2>&1); then
  echo "compile_fail: $file compiles; it should not"
  exit 1
fi
first=$(grep -m 1 'error:' <<< "$output")
faults=0
for regex in "${expected[@]}"; do
  if ! grep -qE -e "$regex" <<< "$first"; then
    echo "compile_fail: the first error of $file does not match '$regex'"
    faults=$((faults + 1))
  fi
done
(( faults == 0 )) && exit 0
echo "compile_fail: first error: $first"
printf '%s\n' "--- output ---" "${output:0:4000}"
exit 1
