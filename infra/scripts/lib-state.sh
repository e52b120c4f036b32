# shellcheck shell=bash disable=SC2153 # MODE, STATE, RIG_RUN are lib.sh's
# Before-values, files and waiting, for the scripts of the rig; sourced by lib.sh. What a concern changed lies in its state folder: the first
# apply writes it before the change, later ones leave it alone, revert puts it back and removes the folder.

# keep NAME VALUE   the first value stays, whatever later applies say
keep() {
  if [ -e "$STATE/$1" ]; then return; fi
  printf '%s\n' "$2" >"$STATE/.$1.new"
  sync "$STATE/.$1.new"
  mv "$STATE/.$1.new" "$STATE/$1"
}
# kept NAME   prints it; false when nothing was kept
kept() { [ -e "$STATE/$1" ] && cat "$STATE/$1"; }
# made LIST ITEM   written ahead of the making, so that an apply that was killed leaves nothing unknown
made() {
  if grep -qxF -- "$2" "$STATE/made-$1" 2>/dev/null; then return; fi
  printf '%s\n' "$2" >>"$STATE/made-$1"
  sync "$STATE/made-$1"
}
# made_list LIST   newest first
made_list() { if [ -e "$STATE/made-$1" ]; then tac "$STATE/made-$1"; fi; }

# keep_path PATH   what lies there: a file, a link, nothing
keep_path() {
  local id folder
  id=$(printf '%s' "$1" | sha256sum | cut -c1-16)
  folder=$STATE/paths/$id
  if [ -e "$folder" ]; then return; fi
  rm -rf "$folder.new"
  mkdir -p "$folder.new"
  printf '%s' "$1" >"$folder.new/path"
  if [ -e "$1" ] || [ -L "$1" ]; then cp -a -- "$1" "$folder.new/before"; fi
  sync "$folder.new/path"
  mv "$folder.new" "$folder"
}
# Puts back everything keep_path kept and removes the folders that were made, where they are empty.
revert_paths() {
  local folder path
  for folder in "$STATE"/paths/*; do
    if [ ! -e "$folder/path" ] || [[ $folder == *.new ]]; then continue; fi
    path=$(cat "$folder/path")
    rm -f -- "$path.rig-new"
    if [ -e "$folder/before" ] || [ -L "$folder/before" ]; then
      mkdir -p "$(dirname "$path")"
      cp -a -- "$folder/before" "$path.rig-new"
      mv -fT -- "$path.rig-new" "$path"
    else
      rm -f -- "$path"
    fi
    rm -rf "$folder"
    changed "put back $path"
  done
  while IFS= read -r path; do
    if [ -d "$path" ]; then rmdir --ignore-fail-on-non-empty -- "$path"; fi
  done < <(made_list dirs)
}

make_dir() {
  if [ -d "$1" ]; then return; fi
  make_dir "$(dirname "$1")"
  made dirs "$1"
  mkdir "$1"
}
# want_file PATH MODE OWNER:GROUP <text   written whole or not at all. The text ends in one newline
want_file() {
  local path=$1 mode=$2 owner=$3 text
  IFS= read -r -d '' text || true
  while [[ $text == *$'\n' ]]; do text=${text%$'\n'}; done
  if [ -f "$path" ] && [ ! -L "$path" ] && [ "$(stat -c '%a %U:%G' "$path")" = "$mode $owner" ] && printf '%s\n' "$text" | cmp -s - "$path"; then
    return
  fi
  if [ "$MODE" = check ]; then
    differ "file:$path"
    return
  fi
  keep_path "$path"
  make_dir "$(dirname "$path")"
  rm -f -- "$path.rig-new"
  (umask 077 && printf '%s\n' "$text" >"$path.rig-new")
  chown "$owner" "$path.rig-new"
  chmod "$mode" "$path.rig-new"
  mv -fT "$path.rig-new" "$path"
  changed "file:$path"
}
# want_no_file PATH
want_no_file() {
  if [ ! -e "$1" ] && [ ! -L "$1" ]; then return; fi
  if [ "$MODE" = check ]; then
    differ "file:$1"
    return
  fi
  keep_path "$1"
  rm -f -- "$1"
  changed "no-file:$1"
}
# want_link PATH TARGET   switched in one step
want_link() {
  if [ "$(readlink "$1" 2>/dev/null || true)" = "$2" ]; then return; fi
  if [ "$MODE" = check ]; then
    differ "link:$1"
    return
  fi
  keep_path "$1"
  make_dir "$(dirname "$1")"
  ln -sfn "$2" "$1.rig-new"
  mv -fT "$1.rig-new" "$1"
  changed "link:$1"
}
# want_dir PATH MODE OWNER:GROUP   revert removes it when it is ours and empty
want_dir() {
  if [ -d "$1" ] && [ "$(stat -c '%a %U:%G' "$1")" = "$2 $3" ]; then return; fi
  if [ "$MODE" = check ]; then
    differ "dir:$1"
    return
  fi
  make_dir "$1"
  chown "$3" "$1"
  chmod "$2" "$1"
  changed "dir:$1"
}

# Bounds are for what hangs: a minute is not enough on a host that is busy, or emulated.
# bounded SECONDS COMMAND...   TERM at the bound, KILL ten seconds later. The failure is the caller's, so that a message shows its line and command
bounded() {
  local code=0
  timeout -k 10 "$@" || code=$?
  case $code in 124 | 137) say "no end within $1 s: ${*:2:3}" ;; esac
  return "$code"
}
# until_true SECONDS COMMAND...   polls twice a second; false at the bound
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    if [ "$SECONDS" -ge "$end" ]; then return 1; fi
    sleep 0.5
  done
}
# logged NAME SECONDS COMMAND...   bounded, its output in a file of the state folder; the last lines of it for people when it fails
logged() {
  local log=$STATE/$1.log code=0
  shift
  bounded "$@" >"$log" 2>&1 || code=$?
  if [ "$code" != 0 ]; then
    say "exit code $code of: ${*:2}"
    tail -n 15 "$log" | cut -c1-300 >&2 || true
  fi
  return "$code"
}
# Reads unit files anew after changes, and when an earlier apply may have ended between a change and this.
reload_units() { if [ "$CHANGED" = true ] || [ "$UNFINISHED" = true ]; then bounded 300 systemctl daemon-reload; fi; }
# mark_reboot REASON   asks the reboot concern for a reboot. The marker is gone after one, as everything under /run is
mark_reboot() {
  mkdir -p "$RIG_RUN"
  printf '%s: %s\n' "$CONCERN" "$1" >>"$RIG_RUN/needs-reboot"
  say "a reboot is needed: $1"
}
# program_text WORDS FUNCTION...   a program for the host made of functions of a script, so that what is installed is what was linted; the
# last one is called with the program's arguments
program_text() {
  printf '#!/bin/bash\n# Written by the rig (%s); goes at revert. %s\nset -uo pipefail\nexport LC_ALL=C\n' "$CONCERN" "$1"
  shift
  declare -f "$@"
  printf '%s "$@"\n' "${!#}"
}
# note_exposure UNIT   the score and word of `systemd-analyze security`, looked up once for each text of the unit: the look takes seconds
note_exposure() {
  if [ -e "$STATE/exposure" ] && [ "$CHANGED" = false ]; then return; fi
  bounded 180 systemd-analyze security --no-pager "$1" 2>/dev/null | sed -n 's/.*Overall exposure level.*: \([0-9.]* [A-Z]*\).*/\1/p' >"$STATE/exposure" || true
}
