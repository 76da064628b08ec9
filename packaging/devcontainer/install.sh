#!/bin/sh
# Installs Weir into the image of a development container, as root and for every user. The options of the feature come as
# variables; beside this file is the installer of the release, which knows the checksums of its archives.
set -eu

cd "$(dirname "$0")"
if [ -n "${FROM:-}" ]; then
  exec sh ./weir-install.sh --prefix /usr/local --from "$FROM"
fi
exec sh ./weir-install.sh --prefix /usr/local
