# For the scripts that make one output in a folder of its own, which they remove. Sourced by them.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# fresh PROJECT: choose the folder of a project, and never one that was there before.
fresh() {
  dir=/srv/$1
  if [ -e "$dir" ]; then echo "$dir exists already" >&2; exit 2; fi
}

# generate PROGRAM SCRIPT PROJECT: have the script write the project into its folder, and go there.
generate() {
  fresh "$3"
  mkdir -p "$dir" && "$1" "$here/$2" "$3" "$dir" && cd "$dir" || exit 2
}

# copied PROJECT FROM: copy the project from a folder here, and go there.
copied() {
  fresh "$1"
  mkdir -p /srv && cp -r "$here/$2/$1" "$dir" && cd "$dir" || exit 2
}

# leave CODE: remove the folder and end with the exit code of the tool.
leave() { cd / && rm -rf "$dir"; exit "$1"; }
