# shellcheck shell=bash disable=SC2154 # P, SECRET and VERSION are lib.sh's and redis-trio.sh's
# Texts of the Redis trio: configuration, users, unit; sourced by redis-trio.sh. Both dialects that the distributions have are written: 6.0 (Ubuntu
# 22.04) and 7.0 (Debian 12); `since 6 2` asks which one this host's package speaks.

hash_of() { printf '%s' "$1" | sha256sum | cut -d' ' -f1; }
# Patterns for channels came with 6.2, and with 7.0 a user has none by default.
channels() { if since 6 2; then printf ' resetchannels %s' "$1"; fi; }

users_text() {
  cat <<END
user default off resetpass resetkeys -@all
user admin on resetpass #$(hash_of "${SECRET[admin]}") ~*$(channels '&*') +@all
user app on resetpass #$(hash_of "${SECRET[app]}") ~${P[prefix]}:*$(channels "&${P[prefix]}:*") +@all -@admin -@dangerous +info +client|setname +client|id
user replica on resetpass #$(hash_of "${SECRET[replica]}") resetkeys -@all +psync +replconf +ping
END
}

# conf_text NAME PORT
conf_text() {
  cat <<END
# Written by the rig (redis-trio); goes at revert.
bind 127.0.0.1
port $2
protected-mode yes
aclfile /etc/envladder/redis/users.acl
tcp-keepalive 60
timeout 0
maxclients 4096
dir /var/lib/envladder-redis/$1
logfile ""
maxmemory ${P[maxmemoryMb]}mb
# State is never dropped to make room: a write is refused, and said.
maxmemory-policy noeviction
client-output-buffer-limit normal 0 0 0
client-output-buffer-limit replica 256mb 64mb 60
client-output-buffer-limit pubsub 32mb 8mb 60
repl-backlog-size 32mb
repl-diskless-sync yes
repl-diskless-sync-delay 0
# Saves when it ends, so that replicas go on from where they were after a restart; a full disk stops no writes.
save 3600 1
stop-writes-on-bgsave-error no
appendonly no
END
  if since 6 2; then echo 'disable-thp yes'; fi
  if [ "$1" != primary ]; then
    printf '%s\n' "replicaof 127.0.0.1 ${P[port]}" 'masteruser replica' "masterauth ${SECRET[replica]}" 'replica-read-only yes'
  fi
}

redis_unit() {
  cat <<'END'
# Written by the rig (redis-trio); goes at revert.
[Unit]
Description=envladder: Redis, %i
After=network.target

[Service]
Type=notify
END
  # Before 6.2 Redis cannot switch huge pages off for itself: every write after a fork would copy 2 MiB.
  if ! since 6 2; then
    printf 'ExecStartPre=+/bin/sh -c "if grep -qF [always] %s; then echo madvise > %s; fi"\n' "$THP" "$THP"
  fi
  cat <<'END'
ExecStart=/usr/bin/redis-server /etc/envladder/redis/%i.conf --supervised systemd --daemonize no
User=redis
Group=redis
UMask=0077
StateDirectory=envladder-redis/%i
StateDirectoryMode=0750
Slice=envladder-redis.slice
Restart=on-failure
RestartSec=1
TimeoutStopSec=60
# The child that writes a snapshot may die for memory; the server goes on.
OOMPolicy=continue
LimitNOFILE=8192
CapabilityBoundingSet=
NoNewPrivileges=yes
IPAddressDeny=any
IPAddressAllow=localhost
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectClock=yes
ProtectProc=invisible
RestrictSUIDSGID=yes
RestrictRealtime=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
END
}
