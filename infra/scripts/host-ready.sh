#!/usr/bin/env bash
# The anchor of a rig: is this host one that the other concerns can work on? Looks, and changes nothing but its own folder. All problems are named at
# once (exit code 75). Its revert comes last: it first reverts what other concerns still have on this host (an apply that failed is in no stack, so
# nobody else will), then removes the uploaded scripts and the empty state folder.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

param minDiskMb '[0-9]{1,9}' 'a whole number of MB that must be free under /opt, /var and /tmp' 2000
param minMemoryMb '[0-9]{1,9}' 'a whole number of MB' 1000
param needGpu 'yes|no' 'yes or no' no

PROBLEMS=()
problem() {
  differ "$1" "$2"
  PROBLEMS+=("$1")
}
os_field() { sed -n "s/^$1=\"\\{0,1\\}\\([^\"]*\\)\"\\{0,1\\}\$/\\1/p" /etc/os-release | head -n 1; }
mount_free_mb() { df -Pm "$1" | awk 'NR == 2 {print $4}'; }
# The last byte of the variable; machines without EFI have no such folder.
secure_boot() {
  local file
  for file in /sys/firmware/efi/efivars/SecureBoot-*; do
    if [ -e "$file" ] && [ "$(od -An -tu1 -j4 -N1 "$file" | tr -d ' ')" = 1 ]; then
      echo on
      return
    fi
  done
  echo off
}
gpu_count() { grep -lx 0x10de /sys/bus/pci/devices/*/vendor 2>/dev/null | while read -r file; do cat "${file%vendor}class"; done | grep -c '^0x03' || true; }
# A FIFO task and a group's cpu controller exclude each other where this is on.
rt_group_sched() { if grep -qs '^CONFIG_RT_GROUP_SCHED=y' "/boot/config-$(uname -r)"; then echo yes; else echo no; fi; }

facts() {
  fact os "$(os_field ID) $(os_field VERSION_ID)"
  fact kernel "$(uname -r)"
  fact cores "$(nproc --all)"
  fact memoryMb "$(awk '/^MemTotal:/ {print int($2 / 1024)}' /proc/meminfo)"
  fact systemd "$(systemctl --version 2>/dev/null | awk 'NR == 1 {print $2}')"
  fact glibc "$(getconf GNU_LIBC_VERSION | awk '{print $2}')"
  fact bootId "$(cat /proc/sys/kernel/random/boot_id)"
  fact secureBoot "$(secure_boot)"
  fact gpus "$(gpu_count)"
  fact rtGroupSched "$(rt_group_sched)"
  fact clockSynchronized "$(timedatectl show -p NTPSynchronized --value 2>/dev/null || echo unknown)"
}

preflight() {
  local name path free controllers
  case "$(os_field ID) $(os_field VERSION_ID)" in
    'ubuntu 22.04' | 'ubuntu 24.04' | 'debian 12') ;;
    *) problem os "$(os_field PRETTY_NAME); Ubuntu 22.04 and Debian 12 are what the scripts were tried on" ;;
  esac
  if [ "$(uname -m)" != x86_64 ]; then problem architecture "$(uname -m), not x86_64"; fi
  if [ "$(cat /proc/1/comm)" != systemd ] || [ ! -d /run/systemd/system ]; then
    problem systemd 'process 1 is not systemd'
  elif [ "$(systemctl --version | awk 'NR == 1 {print $2}')" -lt 249 ]; then
    problem systemd 'older than 249'
  fi
  if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
    problem cgroup-v2 'boot with systemd.unified_cgroup_hierarchy=1'
  else
    controllers=" $(cat /sys/fs/cgroup/cgroup.controllers) "
    for name in cpu cpuset io memory pids; do
      if [[ $controllers != *" $name "* ]]; then problem "cgroup-$name" 'the kernel does not offer this controller'; fi
    done
  fi
  for path in /opt /var /tmp; do
    free=$(mount_free_mb "$path")
    if [ "$free" -lt "${P[minDiskMb]}" ]; then problem "disk:$path" "$free MB free, ${P[minDiskMb]} wanted"; fi
  done
  if [ "$(awk '/^MemTotal:/ {print int($2 / 1024)}' /proc/meminfo)" -lt "${P[minMemoryMb]}" ]; then problem memory "less than ${P[minMemoryMb]} MB"; fi
  # Certificates and package lists are refused by a host whose clock is before its own system was made.
  if [ "$(date +%s)" -lt "$(stat -L -c %Y /etc/os-release)" ]; then problem clock "$(date -u +%FT%TZ) is before this system was made"; fi
  if ! command -v apt-get >/dev/null; then problem apt 'there is no apt-get'; fi
  if [ "${P[needGpu]}" = yes ]; then
    if [ "$(gpu_count)" = 0 ]; then problem gpu 'no NVIDIA display device on the PCI bus'; fi
    if [ "$(secure_boot)" = on ]; then problem secure-boot 'an unsigned driver module will not load: switch Secure Boot off in the firmware, or sign the module'; fi
  fi
  if [ ${#PROBLEMS[@]} -eq 0 ]; then return; fi
  # A host that was refused keeps nothing of ours; one that was a rig already stays one.
  if [ "$ACTION" = apply ]; then
    rm -f "$STATE/unfinished"
    rmdir --ignore-fail-on-non-empty "$STATE" "$RIG_STATE"
  fi
  precondition "this host cannot become a rig: ${PROBLEMS[*]}"
}

check() {
  if [ ! -e "$STATE/anchored" ]; then differ anchor 'not applied here'; fi
  preflight
}
apply() {
  preflight
  : >"$STATE/anchored"
}

# Newest first: later concerns stand on earlier ones.
left_concerns() {
  local folder
  for folder in "$RIG_STATE"/*/; do
    if [ "$folder" != "$STATE/" ] && [ -d "$folder" ]; then stat -c '%W %n' "$folder"; fi
  done | sort -rn | cut -d' ' -f2-
}
revert() {
  local uploads folder name script
  uploads=$(dirname "$(dirname "$(readlink -f "$0")")")
  while IFS= read -r folder; do
    name=$(basename "$folder")
    # shellcheck disable=SC2012 # names are ours; the newest upload is wanted
    script=$(ls -t "$uploads"/*/"$name.sh" 2>/dev/null | head -n 1)
    if [ -z "$script" ]; then fail "$name still has what it must put back, and its script is not in $uploads: revert it first"; fi
    bounded 1800 bash "$script" revert || fail "$name cannot be reverted; its words are above"
    changed "reverted $name"
  done < <(left_concerns)
  if [ "$(basename "$uploads")" = .envladder-rig ]; then
    rm -rf "$uploads"
    changed "removed $uploads"
  fi
  rm -rf "$RIG_RUN" "$RIG_LOCKS"/envladder-rig-*.lock
}
main "$@"
