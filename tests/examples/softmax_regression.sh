#!/usr/bin/env bash
# softmax_regression.sh <program>: the example uses the real images where they are installed, and
# never calls a result on generated ones "test accuracy".
set -euo pipefail
program=$1
images=/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz

output=$("$program")
printf '%s\n' "$output"
if [[ -e $images ]] && ! grep -qi 'test accuracy' <<< "$output"; then
  echo "softmax_regression: $images is installed, but was not used"
  exit 1
fi

empty=$(mktemp -d)
trap 'rmdir "$empty"' EXIT
output=$("$program" "$empty")
if grep -qi 'test accuracy' <<< "$output" || ! grep -qi 'generated' <<< "$output"; then
  printf '%s\n' "$output"
  echo "softmax_regression: without images it must say that it uses generated ones, and may not report test accuracy"
  exit 1
fi
