# shellcheck shell=bash
# The janitor of shared memory: the program that shm-janitor.sh installs; sourced by it. Names under /dev/shm carry who made them:
# PREFIX KIND-PID-START-RANDOM, START being field 22 of /proc/PID/stat. (Segments of envladder itself are memfds and need no janitor; bridges to
# other languages use names.) Gone goes only what is provably nobody's; whatever cannot be proven stays and is counted.

# shm_janitor [--dry-run] [--dir DIR] PREFIX MIN_AGE_S
shm_janitor() {
  local dry=no dir=/dev/shm
  if [ "${1:-}" = --dry-run ]; then dry=yes && shift; fi
  if [ "${1:-}" = --dir ]; then dir=$2 && shift 2; fi
  if [ $# -ne 2 ] || ! [[ $1 =~ ^[A-Za-z0-9][A-Za-z0-9._-]{2,31}$ && $2 =~ ^[0-9]{1,9}$ ]]; then
    echo 'usage: shm-janitor [--dry-run] [--dir DIR] PREFIX MIN_AGE_SECONDS' >&2
    return 64
  fi
  if [ "$(id -u)" != 0 ]; then
    echo 'needs root: who maps a segment is hidden from others, so nothing can be proven' >&2
    return 75
  fi
  local prefix=$1 min_age_s=$2 now path name rest id mapped='' opened='' looked=no bytes
  local removed=0 removed_bytes=0 live=0 young=0 in_use=0 unnamed=0 foreign=0 failed=0
  now=$(date +%s)
  for path in "$dir"/*; do
    name=${path##*/}
    if [ ! -f "$path" ] || [ -L "$path" ] || [[ $name != "$prefix"* ]]; then
      if [ -e "$path" ]; then foreign=$((foreign + 1)); fi
      continue
    fi
    rest=${name#"$prefix"}
    if ! [[ $rest =~ ^[A-Za-z0-9]+-([1-9][0-9]{0,9})-([0-9]{1,20})-[A-Za-z0-9]+$ ]]; then
      unnamed=$((unnamed + 1))
      continue
    fi
    # A process of the same number that began at another time is another process.
    if [ "$(start_of "${BASH_REMATCH[1]}")" = "${BASH_REMATCH[2]}" ]; then
      live=$((live + 1))
      continue
    fi
    if [ $((now - $(stat -c %Y "$path" 2>/dev/null || echo "$now"))) -lt "$min_age_s" ]; then
      young=$((young + 1))
      continue
    fi
    # Whoever inherited it or was handed it may use it still, in whatever container. One look at all processes serves all names.
    if [ "$looked" = no ]; then
      mapped=$(cat /proc/[0-9]*/maps 2>/dev/null | awk '$5 > 0 {print $4 "/" $5}' | sort -u)
      opened=$(find -L /proc/[0-9]*/fd -maxdepth 1 -type f -printf '%D/%i\n' 2>/dev/null | sort -u)
      looked=yes
    fi
    id=$(stat -c '%d %i %s' "$path" 2>/dev/null) || continue
    bytes=${id##* } && id=${id% *}
    if grep -qxF "${id/ //}" <<<"$opened" || grep -qxF "$(map_device "${id% *}")/${id#* }" <<<"$mapped"; then
      in_use=$((in_use + 1))
      continue
    fi
    if [ "$dry" = yes ]; then
      echo "would remove $name ($bytes bytes): process ${BASH_REMATCH[1]} is gone, nobody holds it"
    elif rm -f -- "$path"; then
      echo "removed $name ($bytes bytes): process ${BASH_REMATCH[1]} is gone, nobody held it"
    else
      failed=$((failed + 1))
      continue
    fi
    removed=$((removed + 1)) removed_bytes=$((removed_bytes + bytes))
  done
  printf '{"dryRun":%s,"removed":%s,"bytes":%s,"live":%s,"young":%s,"inUse":%s,"unnamed":%s,"foreign":%s,"failed":%s}\n' \
    "$([ "$dry" = yes ] && echo true || echo false)" "$removed" "$removed_bytes" "$live" "$young" "$in_use" "$unnamed" "$foreign" "$failed"
  [ "$failed" = 0 ] || return 70
}
# start_of PID   its start time in clock ticks since boot; nothing when there is no such process
start_of() {
  local text
  text=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  # The name in brackets may hold spaces and brackets: what is wanted is 20 fields after its last one.
  cut -d' ' -f20 <<<"${text##*) }"
}
# map_device DEVICE   a device number as /proc/PID/maps writes it
map_device() { printf '%02x:%02x' $((($1 >> 8) & 0xfff)) $((($1 & 0xff) | (($1 >> 12) & 0xfff00))); }
