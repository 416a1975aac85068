#!/usr/bin/env bash
# check.sh <include/calque> <allowed.txt>
# Prints each header that breaks the table of layers, reaches for a vendor library outside backend/,
# tests a compiler outside core/config.hpp, or is longer than 400 lines. Exit status 1 if any does.
set -euo pipefail
root=$1 table=$2
declare -A allowed
while IFS=: read -r folder list; do
  [[ $folder =~ ^[a-z_]+(/[a-z_]+\.hpp)?$ ]] && allowed[$folder]=" $list "
done < "$table"

faults=0
fault() { echo "layering: $*"; faults=$((faults + 1)); }

headers=0
vendor='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](thrust/|cub/|cuda|cublas|cudnn|nccl|nvrtc|Eigen/|eigen3/|cblas|mpi\.h|omp\.h|tbb/|oneapi/)'
compiler='^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif).*(__clang__|__GNUC__|__CUDACC__|__NVCC__|_MSC_VER|__x86_64__|__aarch64__|__AVX|__SSE|__FMA__|__FAST_MATH__)'
while IFS= read -r file; do
  headers=$((headers + 1))
  name=${file#"$root"/}
  lines=$(wc -l < "$file")
  (( lines <= 400 )) || fault "$name has $lines lines; the limit is 400: split it by idea"

  folder=${name%%/*}
  [[ -v allowed[$name] ]] && folder=$name  # a header with a line of its own
  [[ $name == */* ]] || folder=
  if [[ $folder != @(backend|parallel) ]] && found=$(grep -nE "$vendor" "$file"); then
    fault "$name:${found%%:*} includes a vendor library; only backend/ and parallel/ may: ${found#*:}"
  fi
  if [[ $name != core/config.hpp ]] && found=$(grep -nE "$compiler" "$file"); then
    fault "$name:${found%%:*} tests a compiler or platform; only core/config.hpp may"
  fi
  if found=$(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file" | grep -v '"calque/'); then
    fault "$name:${found%%:*} spells an include other than \"calque/...\": ${found#*:}"
  fi

  [[ -n $folder ]] || continue
  if [[ ! -v allowed[$folder] ]]; then
    fault "$name is in folder $folder, which the table does not list"
    continue
  fi
  while IFS=: read -r line target; do
    other=${target%%/*}
    if [[ $target != */* ]]; then
      [[ $target == fwd.hpp ]] || fault "$name:$line includes calque/$target; a folder may not include top-level headers"
    elif [[ $other != "$folder" && ${allowed[$folder]} != *" $other "* ]]; then
      fault "$name:$line includes calque/$target; $folder may include:${allowed[$folder]% }"
    fi
  done < <(grep -noE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]calque/[^>"]*' "$file" |
    sed 's|:.*calque/|:|')
done < <(find "$root" -name "*.hpp" -o -name "*.cuh" -o -name "*.inl" -o -name "*.inc" | sort)

(( headers > 0 )) || fault "no header under $root"
echo "layering: $headers headers, $faults faults"
(( faults == 0 ))
