#!/usr/bin/env bash
# consume.sh find_package|add_subdirectory|include_path <source> <build> <scratch> <cmake> <compiler>
# Builds and runs the program in app/ with the library found in that way.
set -euo pipefail
way=$1 source=$2 build=$3 scratch=$4 cmake=$5 compiler=$6
app=$(cd "$(dirname "$0")" && pwd)/app
rm -rf "$scratch"
mkdir -p "$scratch"

case $way in
  include_path)
    "$compiler" -std=c++20 -I "$source/include" "$app/app.cpp" -o "$scratch/app"
    exec "$scratch/app"
    ;;
  find_package)
    "$cmake" --install "$build" --prefix "$scratch/prefix" > /dev/null
    # Headers beside those of the tree would make the package pass by accident.
    installed=$(cd "$scratch/prefix/include" && find calque -type f | sort)
    ours=$(cd "$source/include" && find calque -type f | sort)
    [[ $installed == "$ours" ]] || { diff <(echo "$ours") <(echo "$installed"); exit 1; }
    found=(-D "CMAKE_PREFIX_PATH=$scratch/prefix")
    ;;
  add_subdirectory) found=(-D "CALQUE_SOURCE=$source") ;;
esac
"$cmake" -G Ninja -S "$app" -B "$scratch/build" -D "CMAKE_CXX_COMPILER=$compiler" "${found[@]}"
"$cmake" --build "$scratch/build"
if [[ $way == find_package ]] && grep -q "$source/include" "$scratch/build/build.ninja"; then
  echo "consume: the program was built with the source tree's headers"
  exit 1
fi
exec "$scratch/build/app"
