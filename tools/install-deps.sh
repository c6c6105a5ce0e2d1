#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what renga is built from, all of it packages of Debian (12, 13, testing or unstable). Changes
# nothing, and asks no server, when everything is there already.
set -euo pipefail

packages=(
  g++ cmake ninja-build make ccache
  libtorch-dev libopenblas0-pthread libopenmpi-dev openmpi-bin
  libcli11-dev libgtest-dev libpng-dev libspdlog-dev nlohmann-json3-dev zlib1g-dev
  dataset-fashion-mnist
  python3 python3-numpy clang-format
)

fail() {
  echo "install-deps: $*" >&2
  exit 1
}

# Testing and unstable have no VERSION_ID.
require_debian() {
  local ID="" VERSION_ID="" PRETTY_NAME=""
  if [[ -r /etc/os-release ]]; then
    # shellcheck source=/dev/null
    . /etc/os-release
  fi
  [[ "$ID" == debian && "$VERSION_ID" =~ ^(12|13|)$ ]] ||
    fail "this installs packages of Debian 12, 13 or newer; this system is ${PRETTY_NAME:-unknown}." \
      "Install the like of these yourself: ${packages[*]}"
}

# Quoting matters: the format is dpkg's, not the shell's.
missing_packages() {
  local package
  for package in "${packages[@]}"; do
    if [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]]; then
      echo "$package"
    fi
  done
}

main() {
  command -v dpkg-query >/dev/null || require_debian
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then
    return
  fi
  require_debian
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "run this as root, or install sudo; missing: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "install-deps: installing ${missing[*]}"
  "${as_root[@]}" apt-get update --quiet
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}

main
