#!/bin/bash
# apt.sh: simulated package operations (nothing is installed). Results depend on the machine's package state.
. "$(dirname "$0")/lib.sh"
keep apt-mediaserver apt-get -s -V install nginx postgresql redis-server ffmpeg imagemagick php-fpm mariadb-client- tesseract-ocr
keep apt-upgrade apt-get -s dist-upgrade
keep apt-desktop apt-get -s install libreoffice-calc gimp inkscape
for n in apt-mediaserver apt-upgrade apt-desktop; do clean $n; done
