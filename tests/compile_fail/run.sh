#!/usr/bin/env bash
# run.sh precompile <compiler> <include folder> <folder>
# run.sh twin|fail|rows <compiler> <file.cpp> <include folder> [folder with the precompiled header]
# `precompile`: keeps <calque/calque.hpp> in the folder in the compiler's own form, so that each program
# costs what it adds.
# `twin`: the file compiles with CALQUE_TWIN defined, without warnings.
# `fail`: without it the file does not compile, and the first line of the compiler's output that
# holds "error:" matches every `// expect: regex` of the file (also `// expect-g++:` and
# `// expect-clang++:` under that compiler); no line matches a `// never: regex` of it.
# `rows`: the file holds many wrong calls, one a line that ends with `// expect: regex`. Each of these
# matches an error, and each error that names a function of the library matches one of these.
set -uo pipefail
mode=$1 compiler=$2
export LC_ALL=C
kind=g++
"$compiler" --version | grep -q clang && kind=clang++
common=(-std=c++20 -Wall -Wextra -Wconversion)

if [[ $mode == precompile ]]; then
  include=$3 folder=$4
  mkdir -p "$folder/calque"
  echo '#include <calque/calque.hpp>' > "$folder/whole.hpp"
  if [[ $kind == g++ ]]; then
    out=$folder/calque/calque.hpp.gch  # found in place of the header
  else
    out=$folder/calque.pch
  fi
  exec "$compiler" "${common[@]}" -I "$include" -x c++-header "$folder/whole.hpp" -o "$out"
fi

file=$3 include=$4 precompiled=${5:-}
flags=("${common[@]}" -fsyntax-only)
if [[ -n $precompiled ]]; then
  if [[ $kind == g++ ]]; then
    flags+=(-I "$precompiled")
  else
    flags+=(-include-pch "$precompiled/calque.pch")
  fi
fi
flags+=(-I "$include")

if [[ $mode == twin ]]; then
  "$compiler" "${flags[@]}" -Werror -DCALQUE_TWIN "$file" && exit 0
  echo "compile_fail: the compiling twin in $file does not compile"
  exit 1
fi

if [[ $mode == rows ]]; then
  [[ $kind == clang++ ]] && flags+=(-ferror-limit=0)
  mapfile -t expected < <(sed -n 's|.*;  // expect: ||p' "$file")
  errors=$("$compiler" "${flags[@]}" "$file" 2>&1 | grep -E 'error: static.*( failed: |")cq::')
  faults=0
  (( ${#expected[@]} > 0 )) || { echo "compile_fail: $file holds no '// expect: regex' line"; exit 1; }
  for regex in "${expected[@]}"; do
    grep -qE -e "$regex" <<< "$errors" && continue
    echo "compile_fail: no error of $file matches '$regex'"
    faults=$((faults + 1))
  done
  unmatched=$(grep -vE -f <(printf '%s\n' "${expected[@]}") <<< "$errors")
  [[ -n $unmatched ]] && printf 'compile_fail: more than is expected: %s\n' "$unmatched"
  (( faults == 0 )) && [[ -z $unmatched ]]
  exit
fi

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
while read -r regex; do
  line=$(grep -m 1 -E -e "$regex" <<< "$output") || continue
  echo "compile_fail: a line of the output for $file matches '$regex', which is never to be said: $line"
  faults=$((faults + 1))
done < <(sed -n 's|^// never: ||p' "$file")
(( faults == 0 )) && exit 0
echo "compile_fail: first error: $first"
printf '%s\n' "--- output ---" "${output:0:4000}"
exit 1
