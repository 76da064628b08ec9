#!/bin/bash
# packages.sh: what is installed, what would go, what a real repository and real folders look like. Run on any Debian
# with node; results depend on the machine's packages. WEIR is a clone of this project, SITE a folder with an npm project.
. "$(dirname "$0")/lib.sh"
keep apt-remove-x11 apt-get -s -V purge libx11-6
keep apt-installed apt list --installed
keep apt-policy sh -c 'dpkg-query -Wf "\${Package}\n" | head -150 | xargs apt-cache policy'
keep dpkg-list dpkg -l
role() { sed -i -E -e 's/^(Author|From): .*/\1: maintainers <maintainers@weir.example>/' -e '/^ <maintainers/d' -e 's,/(tmp|root|work)\b,/data,g' "$OUT/$1.txt"; }
cd "${WEIR:?}" || exit 1
keep git-diff-log-p-weir git log -p -6 d1f6cf1
keep git-diff-stat-p-weir git show --stat -p 7611af2
keep git-diff-range-weir git diff 32eac03 ea30cc0
keep git-diff-format-patch-weir git format-patch --stdout 202b6b6..ea30cc0
for n in git-diff-log-p-weir git-diff-stat-p-weir git-diff-range-weir git-diff-format-patch-weir; do role $n; done
keep grep-context-weir grep -rn -C2 'Command::new' crates xtask bench
keep tree-ignore-weir tree -a -I '.git|target|recall' --noreport
keep ls-lt-programs ls -lt --time-style=long-iso /usr/bin
keep ls-lah-etc ls -lahR /etc; sed -i 's,/(tmp|root)\b,/data,g' -E "$OUT/ls-lah-etc.txt"
keep tree-dirs-share tree -d -L 3 /usr/share
cd "${SITE:?}" || exit 1
keep ls-r-site ls -R node_modules
keep tree-site tree -L 3 -h node_modules
keep find-du-site sh -c 'du -ah node_modules | sort -h'
sed -i 's,deb[.]debian[.]org,packages.example,' "$OUT/apt-policy.txt" "$OUT/apt-remove-x11.txt"
