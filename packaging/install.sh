#!/bin/sh
# Installs Weir @VERSION@: downloads one archive, compares its checksum with the one in this file, and copies its files
# to a prefix. Needs no root, changes no shell profile, and connects no client: `weir setup` does, and asks.
#
# Everything is in functions that only the last line calls, so a partial download does nothing.
set -eu

version='@VERSION@'
releases='@RELEASES@'
# Checksum and platform of each archive.
sums='@SUMS@'

say() { printf '%s\n' "$*"; }
die() {
  printf 'error: %s\n' "$1" >&2
  [ -z "${2:-}" ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}
usage() {
  cat <<'TEXT'
Installs Weir @VERSION@. Needs no root, changes no shell profile, and connects no client.

  sh install.sh                     installs to ~/.local
  sh install.sh --prefix FOLDER     installs to FOLDER/bin, FOLDER/share and FOLDER/lib
  sh install.sh --from PLACE        takes the archive from a folder, or from another address
  sh install.sh --uninstall         removes what it installed; also with --prefix
TEXT
}

main() {
  # Nobody else may change what is installed, whatever the caller's mask allows.
  umask 022
  prefix="" from="$releases" action=install
  while [ $# -gt 0 ]; do
    case "$1" in
      --prefix | --from)
        [ $# -ge 2 ] || die "$1 needs a value"
        if [ "$1" = --prefix ]; then prefix="$2"; else from="$2"; fi
        shift
        ;;
      --prefix=*) prefix="${1#*=}" ;;
      --from=*) from="${1#*=}" ;;
      --uninstall) action=uninstall ;;
      -h | --help) usage && exit ;;
      *) die "unknown argument: $1" "sh install.sh --help" ;;
    esac
    shift
  done
  [ -n "$prefix" ] || prefix="$(find_prefix)"
  case "$prefix" in /*) ;; *) prefix="$PWD/$prefix" ;; esac
  case "$prefix" in ?*/) prefix="${prefix%/}" ;; esac
  list="$prefix/lib/weir/installed-files"
  "$action"
}

# The prefix unless the user names one.
find_prefix() {
  [ -n "${HOME:-}" ] || die "HOME is not set" "choose a folder with --prefix"
  # With sudo, the home folder is root's, or the user's own, where root's files could not be updated without sudo.
  case "$action ${SUDO_USER:-root}" in
    "install root" | uninstall*) ;;
    *) die "will not install to a home folder with sudo" "run this without sudo, or choose a folder with --prefix" ;;
  esac
  printf '%s' "$HOME/.local"
}

install() {
  [ -n "$from" ] || die "this copy does not know where releases are" "name a folder or an address with --from"
  if [ -e "$prefix/bin/weir" ] && [ ! -e "$list" ]; then
    die "$prefix/bin/weir exists, and this script did not install it" "remove it first, or choose another --prefix"
  fi
  for tool in tar gzip mktemp; do
    command -v "$tool" >/dev/null || die "$tool is not installed"
  done
  check_writable
  target="$(find_target)"
  name="weir-$version-$target"
  scratch="$(mktemp -d)" partial=""
  trap 'rm -rf "$scratch"; [ -z "$partial" ] || rm -f "$partial"' EXIT
  trap 'exit 130' INT TERM HUP
  get "$from/$name.tar.gz" "$scratch/archive"
  check "$scratch/archive" "$(sum_of "$target")"
  (cd "$scratch" && gzip -dc archive | tar -xf -)
  "$scratch/$name/bin/weir" --version >/dev/null || die "the program does not run on this machine" \
    "if ${TMPDIR:-/tmp} is mounted with noexec, set TMPDIR to another folder"
  copy_files "$scratch/$name"
  say "installed weir $version to $prefix/bin/weir"
  say_next
}

# Refuses a prefix that cannot be written to, before anything is downloaded.
check_writable() {
  folder="$prefix"
  while [ ! -e "$folder" ]; do folder="$(dirname "$folder")"; done
  [ -d "$folder" ] || die "cannot install to $prefix: $folder is not a folder" "choose another one with --prefix"
  [ -w "$folder" ] || die "cannot install to $prefix: $folder is not writable" "choose another folder with --prefix"
}

# Says how to start the program: by its name, if that is what the shell finds.
say_next() {
  program="$prefix/bin/weir"
  case "$program" in *[!A-Za-z0-9/._-]*) program="'$program'" ;; esac
  found="$(command -v weir || true)"
  if [ -z "$found" ]; then
    case "${SHELL:-}" in
      */fish) add="fish_add_path '$prefix/bin'" ;;
      *) add="export PATH='$prefix/bin':\"\$PATH\"" ;;
    esac
    say "hint: $prefix/bin is not in your PATH; this adds it: $add"
  elif [ "$(folder_of "$found")" = "$(folder_of "$prefix/bin/weir")" ]; then
    program=weir
  else
    say "hint: another weir comes first in your PATH: $found"
  fi
  say "next: $program setup"
  elsewhere=""
  [ "$prefix" = "${HOME:-}/.local" ] || elsewhere=" --prefix '$prefix'"
  say "to remove it: $program uninstall, then sh install.sh --uninstall$elsewhere"
}

folder_of() { (cd "$(dirname "$1")" && pwd -P); }

# The platform of an archive that runs here. A static program runs with every C library, so it comes first.
find_target() {
  machine="$(uname -m)"
  case "$machine" in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
  esac
  system="$(uname -s)" candidates="" hint=""
  case "$system" in
    Linux) candidates="$machine-unknown-linux-musl $machine-unknown-linux-gnu" ;;
    Darwin) candidates="$machine-apple-darwin" ;;
    MINGW* | MSYS* | CYGWIN*) hint="run this in WSL 2, where Weir is a Linux program" ;;
  esac
  for candidate in $candidates; do
    if [ -n "$(sum_of "$candidate")" ]; then
      printf '%s' "$candidate"
      return
    fi
  done
  die "weir $version has no archive for $system on $machine" "$hint"
}

sum_of() { printf '%s\n' "$sums" | while read -r sum target; do [ "$target" != "$1" ] || printf '%s' "$sum"; done; }

get() {
  host="${1#*://}" protocol=https
  host="${host%%[/?#]*}"
  case "$1" in
    # What precedes the sign could pass for the host.
    *://*) case "$host" in *[@\\]*) die "will not download from an address with a user: $1" ;; esac ;;
  esac
  case "$1" in
    https://*) ;;
    http://127.0.0.1[:/]* | http://localhost[:/]*) protocol=http ;;
    http://*) die "will not download without TLS: $1" ;;
    *)
      [ -f "$1" ] || die "no such file: $1"
      cp "$1" "$2"
      return
      ;;
  esac
  say "downloading $1"
  if command -v curl >/dev/null; then
    curl --proto "=$protocol" --proto-redir '=https' --fail --location --silent --show-error --output "$2" "$1" ||
      die "cannot download $1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1" || die "cannot download $1"
  else
    die "neither curl nor wget is installed" "download it by hand, and name its folder with --from"
  fi
}

check() {
  if command -v sha256sum >/dev/null; then
    found="$(sha256sum "$1")"
  elif command -v shasum >/dev/null; then
    found="$(shasum -a 256 "$1")"
  elif command -v openssl >/dev/null; then
    found="$(openssl dgst -sha256 -r "$1")"
  else
    die "none of sha256sum, shasum and openssl is installed: cannot verify the archive"
  fi
  [ "${found%% *}" = "$2" ] || die "the archive is not that of the release: its checksum is ${found%% *}, not $2" \
    "nothing was installed; download it again, and report this if it stays"
}

# Copies each file beside its place and renames it: a program that runs cannot be overwritten, and clients must find one
# at every moment. Until all are there, the list has the files of both versions, so that all of them can be removed even
# if this is interrupted. It also has the folders that were not there before, which end with a slash.
copy_files() {
  mkdir -p "$1/lib/weir"
  say "install.sh weir" >"$1/lib/weir/weir.origin"
  : >"$scratch/old"
  [ ! -e "$list" ] || cp "$list" "$scratch/old"
  (cd "$1" && find . -type f) | sed 's|^\./||' | sort >"$scratch/files"
  folders_to_make "$scratch/files" >"$scratch/made"
  sed -n '\|/$|p' "$scratch/old" | sort -u "$scratch/files" "$scratch/made" - >"$scratch/new"
  mkdir -p "$prefix/lib/weir"
  # What is in the place of a copy could be a link, which would be written through.
  rm -f "$list.new"
  sort -u "$scratch/new" "$scratch/old" >"$list.new"
  mv -f "$list.new" "$list"
  while read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    partial="$prefix/$file.new"
    rm -f "$partial"
    cp "$1/$file" "$partial"
    mv -f "$partial" "$prefix/$file"
  done <"$scratch/files"
  partial=""
  # What only the version before had occurs once among these.
  sort "$scratch/new" "$scratch/new" "$scratch/old" | uniq -u >"$scratch/gone"
  remove_files "$scratch/gone"
  remove_folders "$scratch/new" >"$scratch/kept"
  rm -f "$list.new"
  cp "$scratch/kept" "$list.new"
  mv -f "$list.new" "$list"
}

# Prints each folder that files of a list need and that is not there, with a slash.
folders_to_make() {
  while read -r file; do
    folder="$(dirname "$file")"
    while [ "$folder" != . ]; do
      [ -d "$prefix/$folder" ] || say "$folder/"
      folder="$(dirname "$folder")"
    done
  done <"$1"
}

uninstall() {
  [ -e "$list" ] || die "this script did not install weir to $prefix" "name the prefix with --prefix"
  found="$(cat "$list")"
  remove_files "$list"
  rm -f "$list" "$list.new"
  printf '%s\n' "$found" | remove_folders - >/dev/null
  say "removed weir from $prefix"
}

# Removes the files of a list, and what an interrupted copy of them left.
remove_files() {
  while read -r file; do
    case "$file" in
      /* | ../* | */../*) die "$list names a file outside of $prefix: $file" ;;
      */) ;;
      *) rm -f "$prefix/$file" "$prefix/$file.new" ;;
    esac
  done <"$1"
}

# Removes the folders of a list that are empty, inner ones first, and prints what is left of the list. The prefix itself
# stays.
remove_folders() {
  sort -r "$1" | while read -r file; do
    case "$file" in */) rmdir "$prefix/$file" 2>/dev/null && continue ;; esac
    say "$file"
  done
}

main "$@"
