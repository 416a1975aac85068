#!/usr/bin/env bash
# symbols.sh <nm> hidden|default <library>
# A library shares with others what belongs to the process (namespace abi_1), and never a kernel, a
# table of kernels or a plan cache: their bits and instructions depend on how they were compiled.
set -euo pipefail
nm=$1 kind=$2 library=$3
exported=$("$nm" -D -C --defined-only "$library" | sed 's/^[0-9a-f]* *//')
grep -q 'abi_1::host_state()' <<< "$exported" || { echo "symbols: no device table in $library"; exit 1; }
if [[ $kind == hidden ]]; then
  # calque's own symbols: those whose name, not whose template arguments, lies in calque
  found=$(grep -E '^[A-Za-z] ([^<(]* )?calque::' <<< "$exported" | grep -v 'abi_1::' || true)
else
  kernels='(map|rows|columns)_(baseline|avx2|avx512)|launch_(map|single|reduce|arg_reduce|matmul)'
  kernels+='|cpu_table|map_tile|run_tiles|move_tile|move_run|reduction::|fill_identity|copy_rows|run_copy|copy_kernel|run_iota|iota_kernel|gemm|::cache\(\)|caches_of'
  found=$(grep -E "calque::.*($kernels)" <<< "$exported" | grep -vE 'std::|typeinfo' || true)
fi
[[ -z $found ]] && exit 0
echo "symbols: $library exports:"
head -n 20 <<< "$found"
exit 1
