#!/bin/bash
# A release of envladder on the host: one archive (made by `npm run rig:pack`, uploaded beforehand) unpacked to /opt/envladder/releases/ID,
# every file of it verified, then /opt/envladder/current switched to it in one step. The way back is the same switch to a folder that is
# still there: the last three stay. check verifies every file and loads addons
# and contract in Node, as a user without rights.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

param hash '[0-9a-f]{64}' 'the SHA-256 of the archive'
param path '[A-Za-z0-9._/+-]+' 'the path of the archive on the host (in the login folder, or absolute)'

BASE=/opt/envladder
KEEP=3
VERIFIED='' # unpacked by this very run
NODE=/usr/local/bin/node
as_nobody() { (cd / && bounded 120 setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=/usr/local/bin:/usr/bin:/bin "$@"); }
# runs FOLDER   loads the addons and the contract of this release; what the loader says is for people
runs() {
  as_nobody "$NODE" --input-type=module -e '
    import { createRequire } from "node:module";
    const at = process.argv[1];
    const require = createRequire(at + "/package.json");
    for (const file of ["./native/build/envladder.node", "better-sqlite3/build/Release/better_sqlite3.node"]) require(file);
    await import(at + "/dist/harness/contract/run-record.js");' "$1"
}
version_in() { sed -n 's/^  "version": "\([^"]*\)",$/\1/p' "$1/release.json" 2>/dev/null || true; }
id_of() { printf '%s' "${1:0:16}"; }
at() { printf '%s/releases/%s' "$BASE" "$(id_of "${P[hash]}")"; }

facts() {
  local current
  current=$(readlink -f "$BASE/current" || true)
  fact current "$(basename "${current:-}")"
  fact version "$(version_in "$current")"
  fact releases "$(find "$BASE/releases" -mindepth 1 -maxdepth 1 -type d ! -name '*.rig-new' -printf '%f ' 2>/dev/null || true)"
}

# whole FOLDER   every file as its manifest says, and none besides
whole() {
  [ -s "$1/MANIFEST.sha256" ] || return 1
  (cd "$1" && sha256sum --quiet --strict -c MANIFEST.sha256 >/dev/null 2>&1) || return 1
  [ "$(find "$1" -type f ! -path "$1/MANIFEST.sha256" | wc -l)" = "$(wc -l <"$1/MANIFEST.sha256")" ]
}

want_release() {
  local to new sum
  to=$(at)
  new=$to.rig-new
  if [ "$VERIFIED" = "$to" ] || { [ -d "$to" ] && whole "$to"; }; then return; fi
  if [ "$MODE" = check ]; then
    differ "release:$(id_of "${P[hash]}")" 'not there, or its files are not those of the manifest'
    return
  fi
  [ -f "${P[path]}" ] || precondition "the archive ${P[path]} is not on this host: make it with npm run rig:pack; pulumi up uploads it"
  sum=$(sha256sum <"${P[path]}")
  [ "${sum%% *}" = "${P[hash]}" ] || fail "the archive ${P[path]} has SHA-256 ${sum:0:16}..., wanted $(id_of "${P[hash]}")...: upload it again"
  make_dir "$BASE/releases"
  made releases "$to"
  rm -rf "$new"
  mkdir "$new"
  logged unpack 900 tar -xzf "${P[path]}" -C "$new" --strip-components=1 --no-same-owner || fail 'the archive cannot be unpacked (is the disk full?)'
  chmod -R u=rwX,go=rX "$new"
  whole "$new" || fail 'what was unpacked is not what the manifest of the archive says'
  rm -rf "$to"
  mv -T "$new" "$to"
  VERIFIED=$to
  changed "release:$(id_of "${P[hash]}")"
}

want_runs() {
  local to words
  to=$(at)
  if [ ! -x "$NODE" ]; then
    if [ "$MODE" = apply ]; then precondition "there is no $NODE: node-runtime comes before"; fi
    differ node 'there is no Node'
    return
  fi
  if [ ! -d "$to" ]; then return; fi
  if ! words=$(runs "$to" 2>&1); then
    if [ "$MODE" = apply ]; then fail "this release does not run on this host: $(grep -m1 -E '^[A-Za-z]*Error' <<<"$words" || tail -n 1 <<<"$words")"; fi
    differ runs "$(grep -m1 -E '^[A-Za-z]*Error' <<<"$words" || tail -n 1 <<<"$words")"
  fi
}

# Older ones go, but never the one in use, nor one a process still runs from.
prune() {
  local each current
  current=$(readlink -f "$BASE/current")
  while IFS= read -r each; do
    if [ "$each" = "$current" ] || grep -qsF "$each/" /proc/[0-9]*/cmdline; then continue; fi
    rm -rf "$each"
    changed "removed $(basename "$each")"
  done < <(made_list releases | while IFS= read -r each; do if [ -d "$each" ]; then printf '%s\n' "$each"; fi; done | xargs -r ls -dt | tail -n +$((KEEP + 1)))
}

want_all() {
  want_release
  want_runs
  want_link "$BASE/current" "releases/$(id_of "${P[hash]}")"
  want_file /usr/local/bin/envladder 755 root:root <<END
#!/bin/sh
# envladder-rig: the release that $BASE/current points at.
exec $NODE $BASE/current/dist/harness/cli/main.js "\$@"
END
}
check() { want_all; }
apply() {
  want_all
  touch "$(at)" # the order in which releases were last wanted decides which stay
  prune
}
revert() {
  local each
  # The links first: nothing may find a folder that is half gone.
  revert_paths
  while IFS= read -r each; do
    if grep -qsF "$each/" /proc/[0-9]*/cmdline; then say "a process still runs from $each"; fi
    rm -rf "$each" "$each.rig-new"
    changed "removed $(basename "$each")"
  done < <(made_list releases)
}
main "$@"
