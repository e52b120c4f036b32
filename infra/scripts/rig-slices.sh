#!/usr/bin/env bash
# Who gets what of the host: envladder.slice with four slices in it (system, learner, redis, workers), a system user for the ladders, and the
# service whose cgroups are delegated to the supervisor. check reads the kernel's files, looks from inside each slice, and starts the service as a
# probe. Run folders under /var/lib/envladder are somebody's results: revert leaves them.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/lib-ladder-unit.sh
. "$(dirname "$0")/lib-ladder-unit.sh"

SLICES=(system learner redis workers)
UNITS=/etc/systemd/system
HOME_DIR=/var/lib/envladder

param user '[a-z_][a-z0-9_-]{0,30}' 'the name of a user' envladder
# From 1000 on logind takes users for people and removes their shared memory when they log out.
param uid '[1-9][0-9]{2}' 'a number from 100 to 999'
param envs '[0-9]{1,7}' 'a number of envs' 0
param nofile '[0-9]{4,7}' 'a number of descriptors from 1000' 65536
param rtprio '[0-9]{1,2}' 'a priority from 0 to 99' 50
param watchdogS '[1-9][0-9]{0,3}' 'a number of seconds from 1 to 9999' 60
for name in "${SLICES[@]}"; do
  name=${name^}
  param "cpus$name" '[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*' 'a list of CPUs as the kernel writes it: 0-3,8'
  param "cpuWeight$name" '[1-9][0-9]{0,4}' 'a weight from 1 to 10000' 100
  param "ioWeight$name" '[1-9][0-9]{0,4}' 'a weight from 1 to 10000' 100
  param "memoryLowMb$name" '[0-9]{1,8}' 'a number of MiB' 0
  param "memoryHighMb$name" '[1-9][0-9]{1,7}' 'a number of MiB from 10'
  param "memoryMaxMb$name" '[1-9][0-9]{1,7}' 'a number of MiB from 10'
  param "tasksMax$name" '[1-9][0-9]{1,6}' 'a number of tasks from 10'
done
# A weight acts on few disks (bfq, or a cost model); this bound acts on all.
param ioMaxMbsWorkers '[0-9]{1,6}' 'MB/s of reads and of writes, 0 for no bound' 0

group_of() { if [ "$1" = all ]; then printf /sys/fs/cgroup/envladder.slice; else printf '/sys/fs/cgroup/envladder.slice/envladder-%s.slice' "$1"; fi; }
unit_of() { if [ "$1" = all ]; then printf envladder.slice; else printf 'envladder-%s.slice' "$1"; fi; }
sum_of() {
  local slice total=0
  for slice in "${SLICES[@]}"; do total=$((total + P[$1${slice^}])); done
  printf '%s' "$total"
}
io_weight_acts() { if grep -qsE '\[bfq\]' /sys/block/*/queue/scheduler || grep -qs 'enable=1' /sys/fs/cgroup/io.cost.qos; then echo yes; else echo no; fi; }
facts() {
  fact user "$(id -u "${P[user]}" 2>/dev/null || echo none)"
  fact envs "${P[envs]}"
  fact cgroups "$(find /sys/fs/cgroup/envladder.slice -maxdepth 1 -name 'envladder-*.slice' -printf '%f ' 2>/dev/null | tr ' ' '\n' | sort | tr '\n' ' ')"
  fact ioWeightActs "$(io_weight_acts)"
  fact exposure "$(kept exposure || true)"
}

slice_text() {
  local name=${1^}
  printf '# Written by the rig (rig-slices); goes at revert.\n[Unit]\nDescription=envladder: %s\n\n[Slice]\n' "$1"
  printf '%s\n' CPUAccounting=yes IOAccounting=yes MemoryAccounting=yes TasksAccounting=yes
  if [ "$1" = all ]; then
    # Protection reaches a child only as far as its parent has it.
    printf 'MemoryLow=%sM\nTasksMax=%s\n' "$(sum_of memoryLowMb)" "$(sum_of tasksMax)"
    return
  fi
  printf 'AllowedCPUs=%s\nCPUWeight=%s\nIOWeight=%s\n' "${P[cpus$name]}" "${P[cpuWeight$name]}" "${P[ioWeight$name]}"
  printf 'MemoryLow=%sM\nMemoryHigh=%sM\nMemoryMax=%sM\nTasksMax=%s\n' "${P[memoryLowMb$name]}" "${P[memoryHighMb$name]}" "${P[memoryMaxMb$name]}" "${P[tasksMax$name]}"
  if [ "$1" = workers ] && [ "${P[ioMaxMbsWorkers]}" != 0 ]; then
    printf 'IOReadBandwidthMax=%s %sM\nIOWriteBandwidthMax=%s %sM\n' "$HOME_DIR" "${P[ioMaxMbsWorkers]}" "$HOME_DIR" "${P[ioMaxMbsWorkers]}"
  fi
}
want_units() {
  local slice unit
  want_dir "$HOME_DIR" 750 "${P[user]}:${P[user]}"
  for slice in all "${SLICES[@]}"; do
    unit=$(unit_of "$slice")
    slice_text "$slice" | want_file "$UNITS/$unit" 644 root:root
    want_link "$UNITS/multi-user.target.wants/$unit" "$UNITS/$unit"
  done
  program_text 'Main process of envladder@PLAN: starts a ladder and answers the service manager for it.' probe_delegation supervise | want_file /usr/local/lib/envladder/supervise 755 root:root
  program_text 'Moves learners into their slice while a ladder runs.' place_learner | want_file /usr/local/lib/envladder/place-learner 755 root:root
  ladder_unit | want_file "$UNITS/envladder@.service" 644 root:root
  place_learner_unit | want_file "$UNITS/envladder-place-learner.service" 644 root:root
}

mib() { printf '%s' $(($1 * 1048576)); }
# Lines of `file value`: what the kernel's files of a slice say when all is as wanted.
slice_values() {
  local name=${1^}
  if [ "$1" = all ]; then
    printf 'memory.low %s\npids.max %s\n' "$(mib "$(sum_of memoryLowMb)")" "$(sum_of tasksMax)"
    return
  fi
  printf 'cpuset.cpus %s\ncpuset.cpus.effective %s\n' "${P[cpus$name]}" "${P[cpus$name]}"
  printf 'cpu.weight %s\nio.weight default %s\n' "${P[cpuWeight$name]}" "${P[ioWeight$name]}"
  printf 'memory.low %s\nmemory.high %s\n' "$(mib "${P[memoryLowMb$name]}")" "$(mib "${P[memoryHighMb$name]}")"
  printf 'memory.max %s\npids.max %s\n' "$(mib "${P[memoryMaxMb$name]}")" "${P[tasksMax$name]}"
}
# wrong_values SLICE   lines of `file what is there, not value`
wrong_values() {
  local file value found
  if [ ! -d "$(group_of "$1")" ]; then
    echo 'group missing'
    return
  fi
  while read -r file value; do
    found=$(cat "$(group_of "$1")/$file" 2>/dev/null || echo missing)
    if [ "$found" != "$value" ]; then printf '%s %s, not %s\n' "$file" "$found" "$value"; fi
  done < <(slice_values "$1")
  if [ "$1" = workers ] && [ "${P[ioMaxMbsWorkers]}" != 0 ] && ! grep -qs "wbps=${P[ioMaxMbsWorkers]}000000 " "$(group_of workers)/io.max"; then
    echo "io.max not ${P[ioMaxMbsWorkers]} MB/s"
  fi
}
check_slice() {
  local file words seen
  while read -r file words; do differ "$1:$file" "$words"; done < <(wrong_values "$1")
  if [ "$1" = all ]; then return; fi
  # What a process in it sees.
  seen=$(bounded 180 systemd-run --quiet --pipe --wait --collect --slice="envladder-$1.slice" \
    /bin/sh -c 'cut -d: -f3 /proc/self/cgroup | cut -d/ -f3; sed -n "s/^Cpus_allowed_list:.//p" /proc/self/status' 2>/dev/null | tr '\n' ' ' || true)
  if [ "$seen" != "envladder-$1.slice ${P[cpus${1^}]} " ]; then differ "$1:inside" "a process there sees '$seen'"; fi
}
learner_is_placed() {
  local pid
  pid=$(pgrep -o -u "${P[user]}" -f '^/harness/learner/entry[.]probe') && grep -qs '/envladder-learner.slice/' "/proc/$pid/cgroup"
}
check_service() {
  local unit=envladder@probe.service pid group found
  if ! found=$(bounded 300 systemctl start "$unit" 2>&1); then
    differ service "$(head -n 1 <<<"$found")"
    return
  fi
  pid=$(systemctl show -p MainPID --value "$unit")
  group=$(group_of workers)/$unit
  if [ "$(sed -n 's/^CapAmb:.//p' "/proc/$pid/status")" != 0000000000800000 ]; then differ service:capabilities 'not CAP_SYS_NICE alone'; fi
  if [ "$(sed -n 's/^CapBnd:.//p' "/proc/$pid/status")" != 0000000000800000 ]; then differ service:capability-bound; fi
  found=$(awk '/^Max open files/ {print $5} /^Max realtime priority/ {print $5}' "/proc/$pid/limits" | tr '\n' ' ')
  if [ "$found" != "${P[nofile]} ${P[rtprio]} " ]; then differ service:limits "open files and real-time priority are $found"; fi
  if [ "$(cat "$group/cgroup.subtree_control")" != 'cpuset cpu io memory pids' ]; then differ service:delegation "$(cat "$group/cgroup.subtree_control")"; fi
  if [ "$(cat "$group/memory.oom.group")" != 0 ]; then differ service:oom 'a worker killed for memory would take the supervisor along'; fi
  until_true 60 learner_is_placed || differ service:learner 'the learner is not in its slice'
  bounded 300 systemctl stop "$unit" || differ service:stop
}
check() {
  local slice
  if [ "$(id -u "${P[user]}" 2>/dev/null)" != "${P[uid]}" ]; then
    differ user "$(id -u "${P[user]}" 2>/dev/null || echo none), not ${P[uid]}"
    return
  fi
  want_units
  for slice in all "${SLICES[@]}"; do check_slice "$slice"; done
  check_service
}

want_user() {
  local found name
  found=$(id -u "${P[user]}" 2>/dev/null || true)
  name=$(getent passwd "${P[uid]}" | cut -d: -f1 || true)
  if [ "$found" = "${P[uid]}" ]; then return; fi
  if [ -n "$found" ] && ! made_list users | grep -qx "${P[user]}"; then precondition "user ${P[user]} was here before, with uid $found: choose another uid or user"; fi
  if [ -n "$name" ]; then precondition "uid ${P[uid]} is $name's: choose another serviceUid"; fi
  if [ -n "$found" ]; then remove_user "${P[user]}"; fi
  made users "${P[user]}"
  useradd --system --uid "${P[uid]}" --user-group --home-dir "$HOME_DIR" --no-create-home --shell /usr/sbin/nologin --comment 'envladder ladders' "${P[user]}"
  changed "user:${P[user]}"
}
remove_user() {
  if ! id -u "$1" >/dev/null 2>&1; then return; fi
  pkill -KILL -u "$1" || true
  until_true 60 userdel "$1" || fail "user $1 cannot be removed: it still has processes"
  changed "user:$1 removed"
}
apply() {
  local slice unit
  want_user
  # Results of an earlier rig, or of an earlier uid.
  if [ -d "$HOME_DIR" ] && [ "$(stat -c %U "$HOME_DIR")" != "${P[user]}" ]; then chown -R "${P[user]}:${P[user]}" "$HOME_DIR"; fi
  want_units
  reload_units
  for slice in all "${SLICES[@]}"; do
    unit=$(unit_of "$slice")
    bounded 300 systemctl start "$unit"
    put_right "$slice"
  done
  note_exposure envladder@probe.service
}
# What somebody set with `systemctl set-property` wins over the file, and what somebody wrote into the kernel's file stays until the service
# manager writes its own again: when it is told a value, even the same one.
put_right() {
  local unit line
  local -a values=()
  unit=$(unit_of "$1")
  if [ -z "$(wrong_values "$1")" ] && [ -z "$(systemctl show -p DropInPaths --value "$unit")" ]; then return; fi
  while IFS= read -r line; do values+=("$line"); done < <(slice_text "$1" | grep -E '^(AllowedCPUs|CPUWeight|IOWeight|IO.*BandwidthMax|Memory(Low|High|Max)|TasksMax)=')
  bounded 300 systemctl set-property --runtime "$unit" "${values[@]}"
  bounded 300 systemctl revert "$unit"
  changed "values of $unit"
}
revert() {
  local name
  bounded 300 systemctl stop 'envladder@*.service' envladder-place-learner.service 2>/dev/null || true
  bounded 300 systemctl stop envladder.slice 2>/dev/null || true
  while IFS= read -r name; do remove_user "$name"; done < <(made_list users)
  revert_paths
  bounded 300 systemctl daemon-reload
  bounded 300 systemctl reset-failed 'envladder@*.service' 2>/dev/null || true
  if [ -d "$HOME_DIR" ]; then
    chown -R root:root "$HOME_DIR"
    rmdir --ignore-fail-on-non-empty "$HOME_DIR/runs" "$HOME_DIR" 2>/dev/null || true
    if [ -d "$HOME_DIR" ]; then say "$HOME_DIR holds results and stays, now root's"; fi
  fi
}
main "$@"
