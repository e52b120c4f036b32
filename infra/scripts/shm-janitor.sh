#!/usr/bin/env bash
# Clears shared memory that dead processes left: a program, a service that runs it without rights it does not need, an hourly timer, and an entry in
# /etc/cron.hourly that starts the same service. check lays out pieces of memory, one for each verdict, and runs the service over them.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/lib-shm-janitor.sh
. "$(dirname "$0")/lib-shm-janitor.sh"

param prefix '[A-Za-z0-9][A-Za-z0-9._-]{2,31}' '3 to 32 letters, digits, dots, dashes'
param minAgeS '[0-9]{1,7}' 'a number of seconds' 3600

UNITS=/etc/systemd/system
PROGRAM=/usr/local/lib/envladder/shm-janitor
NAME=envladder-shm-janitor

facts() {
  fact nextRun "$(systemctl show -p NextElapseUSecRealtime --value $NAME.timer 2>/dev/null || true)"
  fact lastResult "$(systemctl show -p Result --value $NAME.service 2>/dev/null || true)"
  fact exposure "$(kept exposure || true)"
  fact shmUsedKb "$(df -Pk /dev/shm | awk 'NR == 2 {print $3}')"
}

want_files() {
  program_text 'Removes shared memory of dead processes; --dry-run only says what it would remove.' map_device start_of shm_janitor | want_file "$PROGRAM" 755 root:root
  want_file "$UNITS/$NAME.service" 644 root:root <<END
# Written by the rig (shm-janitor); goes at revert.
[Unit]
Description=envladder: shared memory of dead processes

[Service]
Type=oneshot
ExecStart=$PROGRAM ${P[prefix]} ${P[minAgeS]}
TimeoutStartSec=300
Slice=envladder-system.slice
Nice=10
# To see who maps and opens what, and to remove what other users made.
CapabilityBoundingSet=CAP_SYS_PTRACE CAP_DAC_READ_SEARCH CAP_DAC_OVERRIDE CAP_FOWNER
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=/dev/shm
ProtectHome=yes
PrivateTmp=yes
PrivateNetwork=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectClock=yes
RestrictSUIDSGID=yes
RestrictRealtime=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
END
  want_file "$UNITS/$NAME.timer" 644 root:root <<END
# Written by the rig (shm-janitor); goes at revert.
[Unit]
Description=envladder: shared memory of dead processes, hourly

[Timer]
OnCalendar=hourly
RandomizedDelaySec=300
Persistent=yes

[Install]
WantedBy=timers.target
END
  want_link "$UNITS/timers.target.wants/$NAME.timer" "$UNITS/$NAME.timer"
  # Hosts that are run by cron keep their habit; it is the same service, so it never runs twice at once.
  want_file "/etc/cron.hourly/$NAME" 755 root:root <<END
#!/bin/sh
# Written by the rig (shm-janitor); goes at revert.
exec systemctl start --no-block $NAME.service
END
}

# lay NAME [old]   a piece of shared memory, as if made long ago
lay() {
  printf 'envladder rig check' >"/dev/shm/$1"
  if [ "${2:-}" = old ]; then touch -d @1000000000 "/dev/shm/$1"; fi
}
is_idle() { [ "$(systemctl show -p ActiveState --value "$NAME.service")" != activating ]; }
check_verdicts() {
  local dead tag words kept_name start
  until_true 180 is_idle || true # a run that is under way has seen none of what follows
  true &
  dead=$!
  wait "$dead"
  tag=rigcheck$RANDOM
  start=$(start_of $$)
  local orphan=${P[prefix]}k-$dead-1-$tag live=${P[prefix]}k-$$-$start-$tag
  local held=${P[prefix]}k-$dead-2-$tag unnamed=${P[prefix]}$tag foreign=rig-$tag
  lay "$orphan" old
  lay "$live" old
  lay "$held" old
  lay "$unnamed" old
  lay "$foreign" old
  exec 7<"/dev/shm/$held"
  words=$("$PROGRAM" --dry-run "${P[prefix]}" "${P[minAgeS]}" 2>&1 || true)
  if [[ $words != *"would remove $orphan"* ]] || [ ! -e "/dev/shm/$orphan" ]; then differ dry-run; fi
  if ! bounded 300 systemctl start "$NAME.service"; then differ service "$(systemctl show -p Result --value "$NAME.service")"; fi
  if [ -e "/dev/shm/$orphan" ]; then differ orphan 'what a dead process left is still there'; fi
  for kept_name in live held unnamed foreign; do
    if [ ! -e "/dev/shm/${!kept_name}" ]; then differ "kept:$kept_name" 'it was removed'; fi
  done
  exec 7<&-
  rm -f "/dev/shm/$orphan" "/dev/shm/$live" "/dev/shm/$held" "/dev/shm/$unnamed" "/dev/shm/$foreign"
}
check() {
  want_files
  if [ "$(systemctl is-active "$NAME.timer" 2>/dev/null)" != active ]; then differ timer 'not active'; fi
  if [ -x "$PROGRAM" ] && [ -e "$UNITS/$NAME.service" ]; then check_verdicts; else differ service 'not there'; fi
}
apply() {
  want_files
  reload_units
  if [ "$(systemctl is-active "$NAME.timer" 2>/dev/null)" != active ] || [ "$CHANGED" = true ]; then bounded 300 systemctl restart "$NAME.timer"; fi
  note_exposure "$NAME.service"
}
revert() {
  bounded 300 systemctl stop "$NAME.timer" "$NAME.service" 2>/dev/null || true
  revert_paths
  bounded 300 systemctl daemon-reload
  rm -f "/var/lib/systemd/timers/stamp-$NAME.timer"
}
main "$@"
