#!/bin/bash
# Node from a pinned tarball: /opt/node-vVERSION, never changed once it is there, and two links that are switched in one step
# (/opt/node, /usr/local/bin/node). Older versions stay for the way back until revert. check runs it, as a user without rights.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/lib-fetch.sh
. "$(dirname "$0")/lib-fetch.sh"

# envladder's learner backend breaks on 23 and later.
param version '2[02]\.[0-9]{1,3}\.[0-9]{1,3}' 'a version of Node 20 or 22, as in 20.20.2'
param url "$SOURCE_PATTERN" "$SOURCE_WORDS"
param sha256 "$SHA256_PATTERN" "$SHA256_WORDS"

folder() { printf '/opt/node-v%s' "${P[version]}"; }
version_of() { bounded 60 setpriv --reuid=65534 --regid=65534 --clear-groups "$1" --version 2>/dev/null || true; }
sum_of() { sha256sum <"$1" | cut -d' ' -f1; }

facts() {
  fact version "$(version_of /usr/local/bin/node)"
  fact link "$(readlink -f /usr/local/bin/node || true)"
  fact versions "$(find /opt -maxdepth 1 -name "node-v*" -printf "%f " 2>/dev/null)"
}

# want_version   the folder, whole: a rename puts it there, so one that exists was unpacked to its end
want_version() {
  local at new found
  at=$(folder)
  new=$at.rig-new
  if [ -x "$at/bin/node" ] && [ "$(version_of "$at/bin/node")" = "v${P[version]}" ]; then
    if ! kept "sum-${P[version]}" >/dev/null || [ "$(sum_of "$at/bin/node")" = "$(kept "sum-${P[version]}")" ]; then return; fi
  fi
  if [ "$MODE" = check ]; then
    differ "folder:$at" 'not there, not this version, or not the program that was unpacked'
    return
  fi
  if [ -e "$at" ] && ! made_list versions | grep -qxF "$at"; then
    precondition "$at was here before and does not run as v${P[version]}: move it away"
  fi
  fetch "${P[url]}" "${P[sha256]}"
  made versions "$at"
  rm -rf "$new" "$STATE/sum-${P[version]}"
  mkdir "$new"
  logged unpack 900 tar -xf "$FETCHED" -C "$new" --strip-components=1 --no-same-owner || fail "the archive of Node cannot be unpacked"
  chmod -R go+rX,go-w "$new"
  found=$(version_of "$new/bin/node")
  if [ "$found" != "v${P[version]}" ]; then
    rm -rf "$new"
    fail "the archive holds Node ${found:-that does not run on this host}, wanted v${P[version]}, as bin/node in its top folder"
  fi
  keep "sum-${P[version]}" "$(sum_of "$new/bin/node")"
  rm -rf "$at"
  mv -T "$new" "$at"
  changed "folder:$at"
}

want_all() {
  want_version
  want_link /opt/node "node-v${P[version]}"
  want_link /usr/local/bin/node /opt/node/bin/node
}
check() {
  want_all
  local found
  found=$(version_of /usr/local/bin/node)
  if [ "$found" != "v${P[version]}" ]; then differ version "found ${found:-none}"; fi
}
apply() {
  want_all
  forget_fetched
}
revert() {
  local at
  # The links first: nothing may find a folder that is half gone.
  revert_paths
  while IFS= read -r at; do
    rm -rf "$at" "$at.rig-new"
    changed "removed $at"
  done < <(made_list versions)
}
main "$@"
