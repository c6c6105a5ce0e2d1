#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds renga and runs its tests on several versions of Debian, which bring several versions of LibTorch.
# Each lives in a folder of its own (a "root"), made once with debootstrap and kept with its build, so that
# a second run builds only what has changed.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: tools/version-matrix.sh [options] [SYSTEM...]      (as root)

Builds and tests renga on each SYSTEM: 12, 13 and sid are versions of Debian in a root of their own, host is
this system itself. Without one: 13 sid. Prints a table at the end.

  --root DIR      where the roots are kept, some 3 GB each (/var/tmp/renga-roots)
  --jobs N        files to compile at the same time (all cores)
  --tests REGEX   only the tests whose names match, as for ctest -R (all)
  --slow          the tests labelled slow, too
  --mirror URL    where Debian comes from (what this system's apt uses)
  --help          this text

Exit code: 0 if everything was built and every test passed, 1 if not, 2 for wrong usage.
To have a root made anew, delete its folder.
EOF
}

die() {
  echo "version-matrix: $1" >&2
  exit "${2:-1}"
}

source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
roots=/var/tmp/renga-roots
jobs=$(nproc)
tests=.
exclude_label=slow
mirror=
systems=()
options=()

parse() {
  while (($#)); do
    case $1 in
      --help | -h) usage && exit 0 ;;
      --slow) exclude_label=none options+=(--slow) ;;
      --root | --jobs | --tests | --mirror)
        (($# > 1)) || die "$1: expected a value after it; see --help" 2
        case $1 in
          --root) roots=$(realpath -m "$2") ;;
          --jobs) jobs=$2 ;;
          --tests) tests=$2 ;;
          --mirror) mirror=$2 ;;
        esac
        options+=("$1" "$2")
        shift
        ;;
      12 | 13 | sid | host) systems+=("$1") ;;
      *) die "$1: expected 12, 13, sid, host or an option; see --help" 2 ;;
    esac
    shift
  done
  ((${#systems[@]})) || systems=(13 sid)
  [[ $jobs =~ ^[1-9][0-9]*$ ]] || die "--jobs: expected a positive number, got $jobs" 2
}

# -- making a root --------------------------------------------------------------------------------------

host_mirror() {
  local VERSION_CODENAME=""
  # shellcheck source=/dev/null
  . /etc/os-release
  # The format is apt's, not the shell's.
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(SITE) $(RELEASE)' |
    awk -v release="$VERSION_CODENAME" '$2 == release && !found { print $1; found = 1 }'
}

# How this system reaches package servers holds for the root, too: proxies, certificates, dates.
copy_apt_settings() {
  local root=$1
  apt-config dump Acquire | grep -E '^Acquire::(https?|Check-|Retries)' >"$root/etc/apt/apt.conf.d/90host" || true
  if [[ -n $(ls /usr/local/share/ca-certificates 2>/dev/null) ]]; then
    cp -RL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
    chroot "$root" update-ca-certificates
  fi
}

make_root() {
  local system=$1 root=$2
  if [[ -e $root/.complete ]]; then
    return
  fi
  command -v debootstrap >/dev/null || die "debootstrap is missing; apt-get install debootstrap"
  local -A suites=([12]=bookworm [13]=trixie [sid]=sid)
  local from=${mirror:-$(host_mirror)}
  [[ -n $from ]] || die "this system's apt knows no Debian server; give one with --mirror URL"
  echo "version-matrix: making $root from $from"
  rm -rf --one-file-system "$root"
  debootstrap --variant=minbase --include=ca-certificates,rsync "${suites[$system]}" "$root" "$from"
  copy_apt_settings "$root"
  mkdir -p "$root/renga/source"
  touch "$root/.complete"
}

enter_root() {
  local root=$1
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
  mount --bind "$source_folder" "$root/mnt"
  mount -o remount,bind,ro "$root/mnt"
}

# -- what is done in each system ------------------------------------------------------------------------

# run_in SYSTEM COMMANDS: $SOURCE is the source, $STATE the folder that keeps builds and logs.
run_in() {
  local system=$1 commands=$2
  local clean=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
    JOBS="$jobs" TESTS="$tests" EXCLUDE_LABEL="$exclude_label")
  if [[ $system == host ]]; then
    "${clean[@]}" SOURCE="$source_folder" STATE="$roots/host" bash -euo pipefail -c "$commands"
  else
    "${clean[@]}" SOURCE=/renga/source STATE=/renga chroot "$roots/debian-$system" bash -euo pipefail -c "$commands"
  fi
}

# By content, and with the time of copying: another folder's older file is a changed one, too.
# shellcheck disable=SC2016
copy_source='rsync --recursive --links --perms --checksum --delete --exclude=/.git --exclude=/build* --exclude=/runs \
  /mnt/ "$SOURCE/"'
# shellcheck disable=SC2016
install='cd "$SOURCE" && tools/install-deps.sh'
# Less optimized, as the question is whether it is right: that takes a quarter less time.
# shellcheck disable=SC2016
build='export CCACHE_DIR="$STATE/ccache" CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
cmake -S "$SOURCE" -B "$STATE/build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
  -D CMAKE_CXX_COMPILER_LAUNCHER=ccache -D CMAKE_CXX_FLAGS=-fpch-preprocess
cmake --build "$STATE/build" --parallel "$JOBS" -- -k 0'
# shellcheck disable=SC2016
check='ctest --test-dir "$STATE/build" --tests-regex "$TESTS" --label-exclude "$EXCLUDE_LABEL" \
  --output-on-failure --no-tests=error --output-junit "$STATE/tests.xml"'

step() {
  local system=$1 name=$2 commands=$3 log=$4
  echo "version-matrix: $system: $name, see $log"
  if ! run_in "$system" "$commands" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "$system: $name failed, see $log"
  fi
}

attribute() {
  sed -n "s/.*\b$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1
}

write_row() {
  local state=$1 version=$2 seconds=$3
  local total failed idle
  total=$(attribute "$state/tests.xml" tests)
  failed=$(attribute "$state/tests.xml" failures)
  idle=$(($(attribute "$state/tests.xml" disabled) + $(attribute "$state/tests.xml" skipped)))
  printf '%-16s %7s %7s %7s %7s %7s\n' "$version" $((total - failed - idle)) "$failed" "$idle" "$total" "$seconds" \
    >"$state/row"
}

check_system() {
  local system=$1 begin=$SECONDS state
  state=$(state_folder "$system")
  if [[ $system == host ]]; then
    mkdir -p "$state"
  else
    local root=$roots/debian-$system
    make_root "$system" "$root"
    enter_root "$root"
    step "$system" "copying the source" "$copy_source" "$state/copy.log"
  fi
  step "$system" "installing packages" "$install" "$state/install.log"
  local version
  # shellcheck disable=SC2016
  version=$(run_in "$system" 'dpkg-query -W -f "\${Version}" libtorch-dev')
  echo "$version: not built" >"$state/row"
  step "$system" "building with LibTorch $version" "$build" "$state/build.log"
  echo "$version: tests did not end" >"$state/row"
  local status=0
  run_in "$system" "$check" 2>&1 | tee "$state/tests.log" || status=1
  write_row "$state" "$version" $((SECONDS - begin))
  return $status
}

# -- all of them ----------------------------------------------------------------------------------------

state_folder() {
  if [[ $1 == host ]]; then echo "$roots/host"; else echo "$roots/debian-$1/renga"; fi
}

# Mount and process namespaces of its own: whatever ends this program, also Ctrl-C or kill -9, ends all of
# it and leaves nothing mounted.
check_in_namespace() {
  unshare --mount --pid --kill-child "${BASH_SOURCE[0]}" --inside "$@" &
  local child=$!
  trap 'kill -KILL "$child"; wait "$child" || true; exit 130' INT TERM HUP
  wait "$child"
}

print_table() {
  local system row
  printf '\n%-7s %-16s %7s %7s %7s %7s %7s\n' system LibTorch passed failed skipped total seconds
  for system in "${systems[@]}"; do
    row=$(cat "$(state_folder "$system")/row" 2>/dev/null) || row="not ready"
    printf '%-7s %s\n' "$system" "$row"
  done
}

main() {
  parse "$@"
  ((EUID == 0)) || die "mounting and chroot need root"
  local status=0 system
  for system in "${systems[@]}"; do
    mkdir -p "$roots"
    exec 9>"$roots/$system.lock"
    flock --nonblock 9 || die "another run uses $system in $roots"
    rm -f "$(state_folder "$system")"/{row,tests.xml}
    check_in_namespace "$system" "${options[@]}" || status=1
  done
  print_table
  exit "$status"
}

# The file is read to its end before anything runs: it may be edited meanwhile.
if [[ ${1:-} == --inside ]]; then
  shift
  parse "$@"
  check_system "${systems[0]}"
  exit
else
  main "$@"
fi
