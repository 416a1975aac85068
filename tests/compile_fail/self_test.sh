#!/usr/bin/env bash
# self_test.sh <compiler>: shows that run.sh notices files that compile, other errors and bad twins.
set -uo pipefail
compiler=$1
run=$(dirname "$0")/run.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect <ok|text of the complaint> <mode> <content>
expect() {
  printf '%b' "$3" > "$folder/case.cpp"
  out=$(bash "$run" "$2" "$compiler" "$folder/case.cpp" "$folder" 2>&1)
  status=$?
  if [[ $1 == ok ]]; then
    [[ $status == 0 ]] && return
  elif [[ $status == 1 && $out == *"$1"* ]]; then
    return
  fi
  echo "self_test: wanted '$1', got status $status: $out"
  failures=$((failures + 1))
}

bad='#ifndef CALQUE_TWIN\nstatic_assert(false, "call: want this");\n#endif\n'
expect ok twin "// expect: want this\n$bad"
expect ok fail "// expect: want this\n// expect: ^[^ ]*case.cpp\n$bad"
expect 'it should not' fail '// expect: want this\nint main() {}\n'
expect "does not match 'never said'" fail "// expect: want this\n// expect: never said\n$bad"
expect "does not match 'second'" fail \
  '// expect: second\nstatic_assert(false, "first");\nstatic_assert(false, "second");\n'
expect "holds no '// expect" fail "$bad"
expect 'never to be said' fail \
  '// expect: first\n// never: second\nstatic_assert(false, "first");\nstatic_assert(false, "second");\n'
expect ok fail '// expect: first\n// never: third\nstatic_assert(false, "first");\n'
expect 'twin in' twin '// expect: x\nint main() { return nothing; }\n'
expect 'twin in' twin '// expect: x\nint narrow(double d) { return d; }\n'
echo "self_test: $failures failures"
(( failures == 0 ))
