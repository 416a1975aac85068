# Sourced by the other scripts: makes sure that packages (Debian's names) are there.
#   setup "<needed>..." "<wanted>..."
# As root installs what is missing through apt. Otherwise prints the one command to run and stops.
# What is only wanted and cannot be had is reported, and the script goes on.

# Asks for the thing itself, so that a tool from elsewhere counts as well.
setup_has() {
  case $1 in
    g++) command -v g++ ;;
    clang) command -v clang++ ;;
    cmake) command -v cmake ;;
    ninja-build) command -v ninja || command -v ninja-build ;;
    doctest-dev) setup_has_header doctest/doctest.h ;;
    zlib1g-dev) setup_has_header zlib.h ;;
    libbenchmark-dev) setup_has_header benchmark/benchmark.h ;;
    libeigen3-dev) setup_has_header eigen3/Eigen/Core ;;
    dataset-fashion-mnist) ls /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz ;;
    *) dpkg -s "$1" ;;
  esac > /dev/null 2>&1
}

setup_has_header() { echo "#include <$1>" | g++ -std=c++20 -E -x c++ -; }

setup_missing() {
  local package
  for package in "$@"; do setup_has "$package" || echo "$package"; done
}

setup_apt() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; }

setup_report() { (( $# == 0 )) || echo "cannot be had here, going on without it: $*"; }

setup() {
  local needed wanted obtainable=() package
  mapfile -t needed < <(setup_missing $1)
  mapfile -t wanted < <(setup_missing $2)
  if (( ${#needed[@]} + ${#wanted[@]} > 0 )); then
    if [[ $(id -u) == 0 ]] && command -v apt-get > /dev/null; then
      echo "installing through apt: ${needed[*]} ${wanted[*]}"
      apt-get update -qq || true
      (( ${#needed[@]} == 0 )) || setup_apt "${needed[@]}" || true
      (( ${#wanted[@]} == 0 )) || setup_apt "${wanted[@]}" || true
    else
      for package in "${wanted[@]}"; do
        [[ $(apt-cache policy "$package" 2> /dev/null) =~ Candidate:\ [0-9] ]] &&
          obtainable+=("$package")
      done
      needed+=("${obtainable[@]}")
      if (( ${#needed[@]} > 0 )); then
        echo "missing: ${needed[*]}; run this once, then try again:" >&2
        echo "  sudo apt-get install -y --no-install-recommends ${needed[*]}" >&2
        exit 1
      fi
    fi
    mapfile -t needed < <(setup_missing $1)
    if (( ${#needed[@]} > 0 )); then
      echo "could not be installed: ${needed[*]}" >&2
      exit 1
    fi
    setup_report $(setup_missing $2)
  fi
  local version
  version=$(cmake --version | sed -nE '1s/[^0-9]*([0-9.]+).*/\1/p')
  if [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) != 3.25 ]]; then
    echo "cmake $version is too old; 3.25 or newer is needed" >&2
    exit 1
  fi
}

# As many jobs as there are cores, unless the caller says otherwise.
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
