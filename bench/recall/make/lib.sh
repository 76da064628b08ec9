# Helpers shared by the generator scripts. Each output goes to $OUT/NAME.txt
# (stdout and stderr merged) and its exit code to $OUT/NAME.rc.
OUT=${OUT:-/tmp/recall-out}
MAKE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$OUT"
export LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 TERM=dumb
unset COLUMNS

# keep NAME CMD...: run a command and keep its merged output and exit code.
keep() {
  local name=$1; shift
  "$@" >"$OUT/$name.txt" 2>&1 </dev/null
  echo $? >"$OUT/$name.rc"
}

# clean NAME: replace package hosts by packages.example, and toolchain and
# temporary folders by neutral ones. The hosts are those that npm and pip are
# configured with, or stand in known places of the line.
clean() {
  local npm_host
  npm_host=$(npm config get registry 2>/dev/null | sed -E 's#^https?://##; s#/.*##; s#\.#\\.#g')
  sed -i -E \
    -e "s#${npm_host:-no-such-host}#packages.example#g" \
    -e 's#https?://[a-z0-9.-]+(:[0-9]+)?/(simple|packages)/#https://packages.example/\2/#g' \
    -e 's#https?://[a-z0-9.-]+:[0-9]+ "GET /#https://packages.example "GET /#g' \
    -e 's#Starting new HTTPS connection \(([0-9]+)\): [a-z0-9.-]+:[0-9]+#Starting new HTTPS connection (\1): packages.example#g' \
    -e 's#registry/(src|index|cache)/[^/ ]+-[0-9a-f]{16}#registry/\1/packages.example-1949cf8c6b5b557f#g' \
    -e 's#Updating [a-z.]+ index#Updating packages.example index#g' \
    -e 's#Linux [0-9]+\.[0-9.]+-[a-z0-9-]+#Linux 6.1.0#g' \
    -e 's#/tmp/pip-#/home/dev/tmp/pip-#g' \
    -e "s#$HOME/\.rustup#/usr/local/rustup#g" \
    -e "s#$HOME/\.pyenv/versions/[0-9.]+#/usr/local#g" \
    "$OUT/$1.txt"
}
