#!/usr/bin/env bash
#
# Copies a folder to another machine. What is the same there is left alone.
#
# Usage: copy.sh FROM TO

set -euo pipefail

# Where the log goes.
export LOG_FILE="${LOG_FILE:-/tmp/copy.log}"
readonly VERSION=1.4
declare -A SEEN=()
declare -rx MODE="fast"
LIMIT=10
local_copy=
export PATH
export -f report

# Says what happened.
# Arguments: the text
report() {
  local text="$1"
  INNER=3
  printf '%s\n' "$text" >> "$LOG_FILE"
}

function copy_one {
  local from="$1" to="$2"
  cp -- "$from" "$to" || return 1
}

function copy_all() {
  for file in "$1"/*; do
    copy_one "$file" "$2"
  done
}

_private() (
  cd /tmp
)

if [[ -z "${NO_COLOUR:-}" ]]; then
  RED=$'\e[31m'
  colour() { printf '%s' "$RED$1"; }
else
  colour() { printf '%s' "$1"; }
fi

case "${1:-}" in
  -h|--help)
    usage() { echo help; }
    ;;
esac

USAGE=$(cat <<'EOF'
copy.sh FROM TO
not_a_function() { :; }
EOF
)

alias ll='ls -l'

main() {
  copy_all "$@"
}

main "$@"
