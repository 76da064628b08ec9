#!/bin/sh
# Installs Weir @VERSION@: downloads one archive, compares its checksum with the one in this file, and copies its files
# to a prefix. Needs no root, changes no shell profile, and connects no client: `weir setup` does, and asks.
#
#   sh install.sh                     installs to ~/.local
#   sh install.sh --prefix FOLDER     installs to FOLDER/bin, FOLDER/share and FOLDER/lib
#   sh install.sh --from PLACE        takes the archive from a folder, or from another address
#   sh install.sh --uninstall         removes what it installed; also with --prefix
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
usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; }

main() {
  prefix="${HOME:?}/.local" from="$releases" action=install
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
  case "$prefix" in /*) ;; *) prefix="$PWD/$prefix" ;; esac
  list="$prefix/lib/weir/installed-files"
  "$action"
}

install() {
  [ -n "$from" ] || die "this copy does not know where releases are" "name a folder or an address with --from"
  if [ -e "$prefix/bin/weir" ] && [ ! -e "$list" ]; then
    die "$prefix/bin/weir exists, and this script did not install it" "remove it first, or choose another --prefix"
  fi
  for tool in tar gzip mktemp; do
    command -v "$tool" >/dev/null || die "$tool is not installed"
  done
  target="$(find_target)"
  name="weir-$version-$target"
  scratch="$(mktemp -d)"
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 130' INT TERM HUP
  get "$from/$name.tar.gz" "$scratch/archive"
  check "$scratch/archive" "$(sum_of "$target")"
  (cd "$scratch" && gzip -dc archive | tar -xf -)
  "$scratch/$name/bin/weir" --version >/dev/null || die "the program does not run on this machine"
  # An update removes the files of the version before it.
  [ ! -e "$list" ] || remove_files
  copy_files "$scratch/$name"
  say "installed weir $version to $prefix/bin/weir"
  case ":$PATH:" in *":$prefix/bin:"*) ;; *) say "hint: $prefix/bin is not in your PATH" ;; esac
  say "next: weir setup"
  elsewhere=""
  [ "$prefix" = "$HOME/.local" ] || elsewhere=" --prefix '$prefix'"
  say "to remove it: weir uninstall, then sh install.sh --uninstall$elsewhere"
}

# The platform of an archive that runs here. A static program runs with every C library, so it comes first.
find_target() {
  machine="$(uname -m)"
  case "$machine" in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
  esac
  system="$(uname -s)"
  case "$system" in
    Linux) candidates="$machine-unknown-linux-musl $machine-unknown-linux-gnu" ;;
    Darwin) candidates="$machine-apple-darwin" ;;
    *) candidates="" ;;
  esac
  for candidate in $candidates; do
    if [ -n "$(sum_of "$candidate")" ]; then
      printf '%s' "$candidate"
      return
    fi
  done
  die "weir $version has no archive for $system on $machine"
}

sum_of() { printf '%s\n' "$sums" | while read -r sum target; do [ "$target" != "$1" ] || printf '%s' "$sum"; done; }

get() {
  case "$1" in
    http://127.0.0.1[:/]* | http://localhost[:/]* | https://*) ;;
    http://*) die "will not download without TLS: $1" ;;
    *)
      [ -f "$1" ] || die "no such file: $1"
      cp "$1" "$2"
      return
      ;;
  esac
  say "downloading $1"
  if command -v curl >/dev/null; then
    curl --fail --location --silent --show-error --output "$2" "$1" || die "cannot download $1"
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

# Copies every file, and lists it first, so that what was copied can be removed even if this is interrupted.
copy_files() {
  mkdir -p "$prefix/lib/weir"
  (cd "$1" && find . -type f) | sed 's|^\./||' | sort >"$list.new"
  say "lib/weir/weir.origin" >>"$list.new"
  mv "$list.new" "$list"
  while read -r file; do
    [ "$file" != lib/weir/weir.origin ] || continue
    mkdir -p "$prefix/$(dirname "$file")"
    # Beside it and then renamed: a program that runs cannot be overwritten.
    cp "$1/$file" "$prefix/$file.new"
    mv -f "$prefix/$file.new" "$prefix/$file"
  done <"$list"
  say "install.sh weir" >"$prefix/lib/weir/weir.origin"
}

uninstall() {
  [ -e "$list" ] || die "this script did not install weir to $prefix" "name the prefix with --prefix"
  remove_files
  rm -f "$list"
  rmdir "$prefix/lib/weir" "$prefix/lib" 2>/dev/null || true
  say "removed weir from $prefix"
}

# Removes the files, and the folders that are empty without them. The prefix itself stays.
remove_files() {
  while read -r file; do
    case "$file" in /* | ../* | */../*) die "$list names a file outside of $prefix: $file" ;; esac
    rm -f "$prefix/$file"
  done <"$list"
  while read -r file; do
    folder="$(dirname "$file")"
    while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do folder="$(dirname "$folder")"; done
  done <"$list"
}

main "$@"
