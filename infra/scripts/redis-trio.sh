#!/usr/bin/env bash
# One Redis primary and its replicas on loopback, from the distribution's package, a user per role, in the slice of Redis. Replicas on one host
# guard against a restart, not against the loss of the host. check writes through the primary, reads at every replica, and tries to come in
# without a password. Passwords come on stdin (admin, app, replica) and stay in files of root: the state folder, and /etc/envladder.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/lib-redis-unit.sh
. "$(dirname "$0")/lib-redis-unit.sh"

param port '[1-9][0-9]{3,4}' 'a port from 1024; replicas have the next ones' 6379
param replicas '[0-8]' 'a number from 0 to 8' 2
param maxmemoryMb '[1-9][0-9]{1,7}' 'a number of MiB from 10'
param prefix '[A-Za-z0-9_-]{1,32}' 'letters, digits, dashes: keys of the role app begin with it' envladder
# They are in an address and in configuration lines: no other characters.
for name in admin app replica; do secret "$name" '[A-Za-z0-9._~-]{16,128}' '16 to 128 letters, digits, dots, dashes, underscores or tildes'; done

UNITS=/etc/systemd/system
CONF=/etc/envladder/redis
THP=/sys/kernel/mm/transparent_hugepage/enabled
VERSION=''
read_version() { VERSION=$(redis-server --version 2>/dev/null | sed -n 's/.* v=\([0-9.]*\) .*/\1/p' || true); }
# since MAJOR MINOR
since() { [ "${VERSION%%.*}" -gt "$1" ] || { [ "${VERSION%%.*}" -eq "$1" ] && [ "$(cut -d. -f2 <<<"$VERSION")" -ge "$2" ]; }; }

# Lines of `name port`.
instances() {
  local n
  for ((n = 0; n <= P[replicas]; n++)); do
    if [ "$n" = 0 ]; then echo "primary ${P[port]}"; else echo "replica$n $((P[port] + n))"; fi
  done
}
unit_of() { printf 'envladder-redis@%s.service' "$1"; }

# Passwords of this call, or those of the last apply.
know_secrets() {
  local name stored
  for name in admin app replica; do
    stored=$(cat "$STATE/secret-$name" 2>/dev/null || true)
    if [ "$ACTION" = check ] && [ -n "${SECRET[$name]:-}" ] && [ "${SECRET[$name]}" != "$stored" ]; then differ "secret:$name" 'another one was applied'; fi
    if [ "$ACTION" = apply ]; then (umask 077 && printf '%s' "${SECRET[$name]}" >"$STATE/secret-$name"); else SECRET[$name]=$stored; fi
  done
}
# cli PORT USER COMMAND...   the password by the environment, never as an argument
cli() {
  local port=$1 user=$2
  shift 2
  REDISCLI_AUTH=${SECRET[$user]} bounded 30 redis-cli --no-auth-warning --user "$user" -h 127.0.0.1 -p "$port" "$@" 2>&1 | tr -d '\r' || true
}
info_of() { cli "$1" admin INFO "$2" | sed -n "s/^$3://p"; }

facts() {
  read_version
  fact version "${VERSION:-none}"
  fact instances "$(systemctl list-units --plain --no-legend 'envladder-redis@*' 2>/dev/null | awk '{print $1 "=" $3}' | sort | tr '\n' ' ')"
  fact afterRestart "$(cat "$STATE/after-restart" 2>/dev/null || echo untried)"
  fact exposure "$(kept exposure || true)"
}

want_files() {
  local name port
  want_dir "$CONF" 750 root:redis
  users_text | want_file "$CONF/users.acl" 640 root:redis
  while read -r name port; do
    conf_text "$name" "$port" | want_file "$CONF/$name.conf" 640 root:redis
    want_link "$UNITS/multi-user.target.wants/$(unit_of "$name")" "$UNITS/envladder-redis@.service"
  done < <(instances)
  redis_unit | want_file "$UNITS/envladder-redis@.service" 644 root:root
  want_file /etc/envladder/redis.env 600 root:root <<<"ENVLADDER_REDIS_URL=redis://app:${SECRET[app]}@127.0.0.1:${P[port]}/0"
}

is_answered() { [ "$(cli "$1" admin PING)" = PONG ]; }
link_is_up() { [ "$(info_of "$1" replication master_link_status)" = up ]; }
has_token() { [ "$(cli "$1" admin GET "${P[prefix]}:rig-probe")" = "$2" ]; }
replicas_are_up() { [ "$(info_of "${P[port]}" replication connected_slaves)" = "${P[replicas]}" ]; }

# wrong_live NAME PORT   what is not as wanted as it runs, whatever its file says; one connection for all of it
wrong_live() {
  local live role=master
  if [ "$1" != primary ]; then role=slave; fi
  live=" $(printf '%s\n' 'CONFIG GET maxmemory' 'CONFIG GET maxmemory-policy' 'CONFIG GET tcp-keepalive' 'INFO replication' | cli "$2" admin | paste -sd' ') "
  if [[ $live != *" role:$role "* ]]; then echo role; fi
  if [[ $live != *" maxmemory $((P[maxmemoryMb] * 1048576)) "* ]]; then echo maxmemory; fi
  if [[ $live != *' maxmemory-policy noeviction '* ]]; then echo policy; fi
  if [[ $live != *' tcp-keepalive 60 '* ]]; then echo keepalive; fi
}
check_instance() {
  local name=$1 port=$2 pid found
  if ! until_true 20 is_answered "$port"; then
    differ "$name:ping" "$(cli "$port" admin PING | head -n 1)"
    return
  fi
  if [ "$name" != primary ] && ! until_true 60 link_is_up "$port"; then differ "$name:link" 'the link to the primary is down'; fi
  wrong_live "$name" "$port" | while read -r found; do differ "$name:$found"; done
  # Outsiders, and the role app where it has no business.
  found=$(bounded 30 redis-cli -h 127.0.0.1 -p "$port" PING 2>&1 || true)
  if [[ $found != *NOAUTH* ]]; then differ "$name:no-password" "without a password it says $found"; fi
  if [[ $(cli "$port" app CONFIG GET maxmemory) != *NOPERM* ]]; then differ "$name:role-app" 'it may change the configuration'; fi
  found=$(ss -Hltn "sport = :$port" | awk '{print $4}' | sort -u | paste -sd' ')
  if [ "$found" != "127.0.0.1:$port" ]; then differ "$name:listens" "on $found"; fi
  pid=$(systemctl show -p MainPID --value "$(unit_of "$name")")
  if ! grep -qs '/envladder-redis.slice/' "/proc/$pid/cgroup"; then differ "$name:slice"; fi
  if ! grep -qs '^THP_enabled:.0' "/proc/$pid/status" && grep -q '\[always\]' "$THP"; then differ "$name:huge-pages"; fi
}
check_replication() {
  local name port token
  token=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
  if [ "$(cli "${P[port]}" admin SET "${P[prefix]}:rig-probe" "$token" EX 60)" != OK ]; then
    differ primary:write
    return
  fi
  while read -r name port; do
    until_true 60 has_token "$port" "$token" || differ "$name:write-seen"
  done < <(instances)
  cli "${P[port]}" admin DEL "${P[prefix]}:rig-probe" >/dev/null
}
check() {
  local name port
  read_version
  know_secrets
  if [ -z "$VERSION" ] || [ -z "${SECRET[admin]}" ]; then
    differ redis 'not applied here'
    return
  fi
  want_files
  while read -r name port; do check_instance "$name" "$port"; done < <(instances)
  check_replication
  if [ "$(cat /proc/sys/vm/overcommit_memory)" != 1 ]; then differ overcommit 'vm.overcommit_memory is not 1: a fork for a replica may be refused'; fi
  if [ "$(cat "$STATE/after-restart" 2>/dev/null)" != "$(wanted_after_restart)" ]; then differ after-restart "$(cat "$STATE/after-restart" 2>/dev/null || echo untried)"; fi
}

# Before 7.0 a primary that was restarted has a new history, and every replica copies it whole.
wanted_after_restart() { if [ "${P[replicas]}" = 0 ]; then echo no-replicas; elif since 7 0; then echo partial; else echo full; fi; }
# Nobody uses the primary yet, or it was restarted anyway: the one moment to see what a restart does to the replicas.
prove_restart() {
  if [ "${P[replicas]}" = 0 ]; then
    echo no-replicas >"$STATE/after-restart"
    return
  fi
  until_true 180 replicas_are_up || fail "the replicas do not come up: $(cli "${P[port]}" admin INFO replication | paste -sd' ')"
  bounded 300 systemctl restart "$(unit_of primary)"
  until_true 180 replicas_are_up || fail 'the replicas do not come back after a restart of the primary'
  if [ "$(info_of "${P[port]}" stats sync_full)" = 0 ]; then echo partial >"$STATE/after-restart"; else echo full >"$STATE/after-restart"; fi
}

refuse_strangers() {
  local name port
  while read -r name port; do
    if ! systemctl is-active --quiet "$(unit_of "$name")" && [ -n "$(ss -Hltn "sport = :$port")" ]; then
      precondition "port $port is taken by something that is not ours ($(ss -Hltnp "sport = :$port" | grep -o 'users:.*' | head -n 1)): choose another redisPort"
    fi
  done < <(instances)
}
apply() {
  local name port
  know_secrets
  if [ ! -d /sys/fs/cgroup/envladder.slice/envladder-redis.slice ]; then precondition 'there is no envladder-redis.slice: rig-slices comes before'; fi
  refuse_strangers
  apt_install redis-server
  # The package enables a server of its own; one that was here before is somebody's.
  if made_list packages | grep -qx redis-server && systemctl is-enabled --quiet redis-server.service 2>/dev/null; then
    bounded 300 systemctl disable --now redis-server.service
  fi
  read_version
  keep huge-pages "$(sed 's/.*\[\(.*\)\].*/\1/' "$THP")"
  CHANGED_BEFORE=$CHANGED
  CHANGED=false
  want_files
  while IFS= read -r name; do
    if instances | grep -q "^$name "; then continue; fi
    bounded 300 systemctl stop "$(unit_of "$name")"
    rm -f "$CONF/$name.conf" "$UNITS/multi-user.target.wants/$(unit_of "$name")"
  done < <(made_list instances)
  if [ "$CHANGED" = true ] || [ "$UNFINISHED" = true ]; then rm -f "$STATE/after-restart"; fi
  reload_units
  while read -r name port; do
    made instances "$name"
    if [ ! -e "$STATE/after-restart" ]; then
      bounded 300 systemctl restart "$(unit_of "$name")" || fail "$(unit_of "$name") does not start: $(journalctl -u "$(unit_of "$name")" -n 3 -o cat --no-pager | paste -sd' ')"
    elif ! systemctl is-active --quiet "$(unit_of "$name")"; then
      bounded 300 systemctl start "$(unit_of "$name")"
      changed "started $name"
    elif [ -n "$(wrong_live "$name" "$port")" ]; then
      bounded 300 systemctl restart "$(unit_of "$name")"
      changed "restarted $name"
    fi
  done < <(instances)
  note_exposure "$(unit_of primary)"
  if [ "$CHANGED_BEFORE" = true ]; then CHANGED=true; fi
  if [ ! -e "$STATE/after-restart" ]; then prove_restart; fi
}
revert() {
  local name before
  while IFS= read -r name; do bounded 300 systemctl stop "$(unit_of "$name")" 2>/dev/null || true; done < <(made_list instances)
  revert_paths
  bounded 300 systemctl daemon-reload
  bounded 300 systemctl reset-failed 'envladder-redis@*' 2>/dev/null || true
  rm -rf /var/lib/envladder-redis
  before=$(kept huge-pages || true)
  if [ -n "$before" ] && ! grep -q "\[$before\]" "$THP"; then echo "$before" >"$THP"; fi
  apt_revert
}
main "$@"
