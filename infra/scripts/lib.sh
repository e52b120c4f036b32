# shellcheck shell=bash disable=SC2034 # scripts and the two files below read what is set here
# The frame of every script of the rig: `bash SCRIPT check|apply|revert key=value...` as root, one JSON line out, distinct exit codes. A script
# sources this file, declares parameters, defines check, apply and revert (and facts, if it has some), and ends with `main "$@"`.
# Bounds: one run per concern at a time (flock), a JSON line under 4 KiB, and no command of a script reads stdin or writes to stdout.
#
# Exit codes: 0 good, 1 check found a difference, 64 usage, 70 failed, 75 a precondition is not met, 79 a reboot is needed first.
# MODE is `check` while differences are named and `apply` while they are mended: both call the same `want_...` functions.
set -Eeuo pipefail
shopt -s lastpipe # `text | want_file` notes what it did in this shell, not in a copy of it
export LC_ALL=C
umask 022
trap '' PIPE # a lost SSH session must not end a script between two steps

CONCERN=$(basename "$0" .sh)
ACTION='' MODE='' CHANGED=false ERROR='' UNFINISHED=false
# Tests of these functions point them at folders of theirs; sudo passes none of them on.
RIG_STATE=${ENVLADDER_RIG_STATE:-/var/lib/envladder-rig}
RIG_LOCKS=${ENVLADDER_RIG_LOCKS:-/run/lock}
RIG_RUN=${ENVLADDER_RIG_RUN:-/run/envladder-rig}
STATE=$RIG_STATE/$CONCERN # what was there before and what was made; 0700, for what was there may have been secret
declare -A P=() SECRET=() BEFORE=() AFTER=() FACTS=()
declare -A PARAM_PATTERN=() PARAM_WORDS=() PARAM_REQUIRED=() SECRET_PATTERN=() SECRET_WORDS=()
declare -a PARAM_NAMES=() SECRET_NAMES=() DIFFERS=()

# The answer leaves by fd 3; what commands say goes to stderr, for people.
exec 3>&1 1>&2

say() { printf '%s: %s\n' "$CONCERN" "$*" >&2 || true; }
stop_with() {
  ERROR=$2
  say "$2"
  exit "$1"
}
usage() { stop_with 64 "$*"; }
fail() { stop_with 70 "$*"; }
precondition() { stop_with 75 "$*"; }
needs_reboot() { stop_with 79 "$*"; }

# differ NAME [WORDS]   what check found not as wanted; changed NAME   what apply or revert did; fact NAME VALUE   for before and after
differ() {
  local each
  for each in ${DIFFERS[@]+"${DIFFERS[@]}"}; do
    if [ "$each" = "$1" ]; then return; fi
  done
  DIFFERS+=("$1")
  say "differs: $1${2:+ ($2)}"
}
changed() {
  CHANGED=true
  say "changed: $1"
}
fact() { FACTS[$1]=${2:-}; }

# --- the JSON line -------------------------------------------------------------------------------------------------------------------

# as_json VALUE [text]   into REPLY, without a process of its own: text of printable ASCII, at most 200 bytes of it; whole numbers and booleans as such
# unless they are to be text
as_json() {
  REPLY=$1
  if [ -z "${2:-}" ] && [[ $1 =~ ^(0|-?[1-9][0-9]{0,14}|true|false)$ ]]; then return; fi
  REPLY=${REPLY:0:200}
  REPLY=${REPLY//[$'\t\n\r']/ }
  REPLY=${REPLY//[^[:print:]]/?}
  REPLY=${REPLY//\\/\\\\}
  REPLY="\"${REPLY//\"/\\\"}\""
}
json_text() { as_json "$1" text && printf '%s' "$REPLY"; }
json_value() { as_json "$1" && printf '%s' "$REPLY"; }
json_map() {
  local -n json_of=$1
  local name line=''
  while IFS= read -r name; do
    if [ -z "$name" ]; then continue; fi
    as_json "$name" text
    line+=",$REPLY:"
    as_json "${json_of[$name]}"
    line+=$REPLY
  done < <(printf '%s\n' "${!json_of[@]}" | sort)
  printf '{%s}' "${line#,}"
}
json_list() {
  local each line=''
  for each in "$@"; do
    as_json "$each" text
    line+=",$REPLY"
  done
  printf '[%s]' "${line#,}"
}
json_line() {
  local head tail='' line
  head="\"concern\":$(json_text "$CONCERN"),\"action\":$(json_text "$ACTION"),\"changed\":$CHANGED"
  if [ -n "$ERROR" ]; then tail=",\"error\":$(json_text "$ERROR")"; fi
  line="{$head,\"before\":$(json_map BEFORE),\"after\":$(json_map AFTER),\"differs\":$(json_list ${DIFFERS[@]+"${DIFFERS[@]}"})$tail}"
  if [ ${#line} -ge 4096 ]; then
    line="{$head,\"before\":{},\"after\":{},\"differs\":$(json_list ${DIFFERS[@]+"${DIFFERS[@]:0:10}"}),\"shortened\":true$tail}"
  fi
  printf '%s\n' "$line" >&3 || true
}

on_exit() {
  local code=$?
  trap - EXIT ERR
  case $code in 0 | 1 | 64 | 70 | 75 | 79) ;; *) code=70 ;; esac
  # 1 is the word for "check found a difference" and for nothing else.
  if [ "$code" = 1 ] && { [ "$ACTION" != check ] || [ ${#DIFFERS[@]} -eq 0 ]; }; then code=70; fi
  if [ "$code" -gt 1 ] && [ -z "$ERROR" ]; then ERROR='a command failed; its words are above'; fi
  json_line
  exit "$code"
}
trap on_exit EXIT
# failed_command LINE FILE COMMAND   as it is written, so without the values of variables; of a function that returned, the line that called it
failed_command() { if [[ $3 == return* ]]; then sed -n "$1{s/^ *//;p}" "$2"; else printf '%s' "$3"; fi | cut -c1-120; }
# A subshell leaves the words to who called it.
trap '[ "$BASH_SUBSHELL" = 0 ] || exit 70; ERROR="line $LINENO of ${BASH_SOURCE[0]##*/} failed${FUNCNAME[0]:+ (called at line ${BASH_LINENO[0]})}: $(failed_command "$LINENO" "${BASH_SOURCE[0]}" "$BASH_COMMAND")"; say "$ERROR"; exit 70' ERR
trap 'ERROR="ended by a signal"; exit 70' TERM INT HUP

# --- parameters ----------------------------------------------------------------------------------------------------------------------

# param NAME ERE WORDS [DEFAULT]   the whole value must match; without a default, check and apply need it
param() {
  PARAM_NAMES+=("$1")
  PARAM_PATTERN[$1]=$2 PARAM_WORDS[$1]=$3
  if [ $# -ge 4 ]; then P[$1]=$4; else PARAM_REQUIRED[$1]=1; fi
}
# secret NAME [ERE WORDS]   comes on stdin as a line NAME=VALUE and never as an argument; apply needs it, check may go without
secret() {
  SECRET_NAMES+=("$1")
  SECRET_PATTERN[$1]=${2:-.+} SECRET_WORDS[$1]=${3:-text}
}

parse_arguments() {
  case ${1:-} in
    check | apply | revert) ACTION=$1 ;;
    *) usage "the first word must be check, apply or revert, not '${1:-}'" ;;
  esac
  MODE=$ACTION
  shift
  local pair name value seen=' '
  for pair in "$@"; do
    name=${pair%%=*} value=${pair#*=}
    if [ "$name" = "$pair" ] || [ -z "$name" ]; then usage "'${pair:0:40}' is not key=value"; fi
    if [ -z "${PARAM_PATTERN[$name]+x}" ]; then usage "unknown key '${name:0:40}'; known: ${PARAM_NAMES[*]:-none}"; fi
    if [[ $seen == *" $name "* ]]; then usage "$name is given twice"; fi
    seen+="$name "
    if [[ $value == *$'\n'* ]] || ! [[ $value =~ ^(${PARAM_PATTERN[$name]})$ ]]; then
      usage "$name must be ${PARAM_WORDS[$name]}, not '${value:0:80}'"
    fi
    P[$name]=$value
  done
  if [ "$ACTION" = revert ]; then return; fi # what was applied is in the state folder
  for name in ${PARAM_NAMES[@]+"${PARAM_NAMES[@]}"}; do
    if [ -n "${PARAM_REQUIRED[$name]:-}" ] && [ -z "${P[$name]+x}" ]; then usage "$name is missing: ${PARAM_WORDS[$name]}"; fi
  done
}

read_secrets() {
  local line name
  if [ ${#SECRET_NAMES[@]} -gt 0 ] && [ "$ACTION" != revert ]; then
    while [ ! -t 0 ] && { IFS= read -r -t 10 line || [ -n "$line" ]; }; do
      if [ -z "$line" ]; then continue; fi
      name=${line%%=*}
      if [[ " ${SECRET_NAMES[*]} " != *" $name "* ]]; then usage "a line on stdin is none of: ${SECRET_NAMES[*]}"; fi
      SECRET[$name]=${line#*=}
    done
    for name in "${SECRET_NAMES[@]}"; do
      if [ -n "${SECRET[$name]:-}" ] && ! [[ ${SECRET[$name]} =~ ^(${SECRET_PATTERN[$name]})$ ]]; then
        usage "secret $name must be ${SECRET_WORDS[$name]}"
      fi
      if [ "$ACTION" = apply ] && [ -z "${SECRET[$name]:-}" ]; then usage "secret $name is missing on stdin: a line $name=VALUE"; fi
    done
  fi
  exec </dev/null
}

# --- the three actions ---------------------------------------------------------------------------------------------------------------

hold_lock() {
  local wait_s=900
  if [ "$ACTION" = check ]; then wait_s=60; fi
  mkdir -p "$RIG_LOCKS"
  # Children inherit the lock: what a killed script had started ends before the next one begins.
  exec 9>"$RIG_LOCKS/envladder-rig-$CONCERN.lock"
  flock -w "$wait_s" 9 || fail "another run of $CONCERN still holds its lock after $wait_s s"
}

# collect_facts MAP   runs facts, when the script has it, into BEFORE or AFTER
collect_facts() {
  local -n collected=$1
  local name
  FACTS=()
  if declare -F facts >/dev/null; then facts; fi
  for name in "${!FACTS[@]}"; do collected["$name"]=${FACTS["$name"]}; done
}

run_check() {
  if [ "$UNFINISHED" = true ]; then differ unfinished 'an apply or a revert was cut off'; fi
  check
  collect_facts AFTER
  if [ ${#DIFFERS[@]} -gt 0 ]; then exit 1; fi
}
run_apply() {
  collect_facts BEFORE
  install -d -m 700 "$RIG_STATE" "$STATE"
  : >"$STATE/unfinished"
  apply
  MODE=check
  check # what was written must also work
  collect_facts AFTER
  if [ ${#DIFFERS[@]} -gt 0 ]; then fail "applied, and still differs: ${DIFFERS[*]}"; fi
  rm -f "$STATE/unfinished"
}
run_revert() {
  if [ ! -d "$STATE" ]; then
    say 'nothing of this was applied here'
    return
  fi
  collect_facts BEFORE
  : >"$STATE/unfinished"
  revert
  revert_paths
  collect_facts AFTER
  rm -rf "$STATE"
  rmdir --ignore-fail-on-non-empty "$RIG_STATE"
  changed reverted
}

main() {
  parse_arguments "$@"
  read_secrets
  if [ "$(id -u)" != 0 ]; then precondition "needs root (found $(id -un)): log in as root, or as a user whose sudo asks no password"; fi
  hold_lock
  if [ -e "$STATE/unfinished" ]; then UNFINISHED=true; fi
  "run_$ACTION"
}

# shellcheck source=SCRIPTDIR/lib-state.sh
. "${BASH_SOURCE[0]%/*}/lib-state.sh"
# shellcheck source=SCRIPTDIR/lib-apt.sh
. "${BASH_SOURCE[0]%/*}/lib-apt.sh"
