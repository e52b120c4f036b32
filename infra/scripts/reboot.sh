#!/usr/bin/env bash
# Reboots the host when a concern has asked for it (/run/envladder-rig/needs-reboot) and never otherwise. apply returns when new SSH connections are
# refused, so whoever connects next waits for the new boot; check is 0 only when the boot id is another one than when the reboot was asked for.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

param reboot 'allowed|refused' 'allowed or refused' allowed

boot_id() { cat /proc/sys/kernel/random/boot_id; }
wanted_by() { if [ -e "$RIG_RUN/needs-reboot" ]; then cut -d: -f1 "$RIG_RUN/needs-reboot" | sort -u | tr '\n' ' '; fi; }
facts() {
  fact bootId "$(boot_id)"
  fact wantedBy "$(wanted_by)"
  fact askedIn "$(cat "$STATE/asked-in" 2>/dev/null || true)"
}

check() {
  if [ -n "$(wanted_by)" ]; then differ reboot "wanted by $(wanted_by)"; fi
  if [ "$(cat "$STATE/asked-in" 2>/dev/null)" = "$(boot_id)" ]; then differ reboot 'asked for, not done yet'; fi
}

apply() {
  if [ -z "$(wanted_by)" ]; then return; fi
  if [ "${P[reboot]}" = refused ]; then
    rm -f "$STATE/unfinished"
    needs_reboot "$(wanted_by)needs a reboot of this host, and the configuration does not allow one: reboot it and go on"
  fi
  boot_id >"$STATE/asked-in"
  sync
  # Sessions that are open live on. Should the reboot not come, the door opens again. The command stays on this line in the unit's description.
  # shellcheck disable=SC2016 # expanded by the unit's shell
  systemd-run --quiet --collect --unit=envladder-rig-reboot --on-active=3 /bin/sh -c 'systemctl reboot; sleep 120; systemctl reboot --force; sleep 60; systemctl start ssh.service' ||
    fail 'the reboot cannot be scheduled'
  bounded 300 systemctl stop ssh.socket ssh.service 2>/dev/null || bounded 30 systemctl stop ssh.service || say 'sshd cannot be stopped; the next connection may meet the old boot'
  rm -f "$STATE/unfinished"
  changed "rebooting for $(wanted_by)"
  exit 0 # check can only be right after the reboot
}
revert() { :; }
main "$@"
