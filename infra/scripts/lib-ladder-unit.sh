# shellcheck shell=bash disable=SC2154 # P is lib.sh's
# The service that a ladder runs in, and the two programs it needs; sourced by rig-slices.sh. `systemctl start envladder@PLAN` climbs that plan;
# `envladder@probe` climbs nothing and proves the delegation, which is how check knows that the unit works.

# supervise PLAN   main process of envladder@PLAN: starts the ladder, answers the service manager for it, hands signals on. Where it runs and with
# which further options: /etc/envladder/run-PLAN.env (ENVLADDER_OUT, ENVLADDER_LADDER_OPTIONS).
supervise() {
  local plan=$1 node=/usr/local/bin/node cli=/opt/envladder/current/dist/harness/cli/main.js
  local out=${ENVLADDER_OUT:-/var/lib/envladder/runs/$plan-$(date -u +%Y%m%dT%H%M%SZ)}
  local beat_s=$((${WATCHDOG_USEC:-60000000} / 3000000)) ready=no silent_s=0 child code
  local -a options=()
  if [ "$plan" = probe ]; then probe_delegation; fi
  read -r -a options <<<"${ENVLADDER_LADDER_OPTIONS:-}"
  if [ ! -x "$node" ] || [ ! -e "$cli" ]; then
    echo "there is no $node or no $cli: node-runtime and envladder-release come first" >&2
    exit 75
  fi
  mkdir -p "$(dirname "$out")"
  "$node" "$cli" ladder --plan "$plan" --out "$out" ${options[@]+"${options[@]}"} &
  child=$!
  trap 'kill -TERM $child 2>/dev/null' TERM
  trap 'kill -INT $child 2>/dev/null' INT
  # The run answers for itself on its control socket. Before the socket is there, and after it is gone, the run starts or writes its report:
  # then it may be silent, but not for ever.
  while kill -0 "$child" 2>/dev/null; do
    if [ -S "$out/ctl.sock" ] && "$node" "$cli" ctl --run "$out" status --json >/dev/null 2>&1; then
      silent_s=0
      if [ "$ready" = no ]; then systemd-notify --ready --status="climbing $plan in $out"; fi
      ready=yes
      systemd-notify WATCHDOG=1
    elif [ ! -S "$out/ctl.sock" ] && [ "$silent_s" -lt 600 ]; then
      silent_s=$((silent_s + beat_s))
      systemd-notify WATCHDOG=1
    fi
    # `wait` alone returns at once for a signal and at the child's end.
    sleep "$beat_s" &
    wait -n "$child" $! 2>/dev/null
  done
  wait "$child"
  code=$?
  # A run may be over before it could be asked: without this word the service manager would call it failed.
  if [ "$ready" = no ] && [ "$code" = 0 ]; then systemd-notify --ready --status="climbed $plan in $out"; fi
  exit "$code"
}
# Lives in the delegated group as a supervisor would: leaves its top, hands every controller down, starts something that looks like a learner.
probe_delegation() {
  local group
  group=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
  mkdir "$group/leaf" && echo $$ >"$group/leaf/cgroup.procs" || exit 70
  echo '+cpu +cpuset +io +memory +pids' >"$group/cgroup.subtree_control" || exit 70
  mkdir "$group/worker" && echo 50 >"$group/worker/cpu.weight" && echo 1 >"$group/worker/cgroup.freeze" || exit 70
  chrt -f 1 true 2>/dev/null || nice -n -1 true || exit 70
  # As every child of a supervisor it ends when its parent does: in its own slice the end of the service would not reach it.
  setpriv --pdeathsig KILL bash -c 'exec -a /harness/learner/entry.probe sleep 300' &
  trap 'kill %1 2>/dev/null; exit 0' TERM
  systemd-notify --ready --status='probing the delegation'
  while kill -0 %1 2>/dev/null; do
    systemd-notify WATCHDOG=1
    sleep 2 &
    wait $!
  done
  exit 0
}

# place_learner USER   moves every learner of this user into the slice of learners, by the service manager's own call (a scope): a supervisor without
# rights cannot, as no group above both slices is delegated. Runs while an envladder@ unit does.
place_learner() {
  local pid
  while :; do
    for pid in $(pgrep -u "$1" -f '/harness/learner/entry[.]'); do
      if grep -qs '/envladder-learner.slice/' "/proc/$pid/cgroup"; then continue; fi
      busctl --quiet call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager StartTransientUnit \
        'ssa(sv)a(sa(sv))' "envladder-learner-$pid.scope" fail 4 PIDs au 1 "$pid" Slice s envladder-learner.slice \
        CollectMode s inactive-or-failed Description s "learner of an envladder ladder" 0 && echo "learner $pid is in its slice"
    done
    sleep 2
  done
}

ladder_unit() {
  cat <<END
# Written by the rig (rig-slices); goes at revert.
[Unit]
Description=envladder ladder, plan %i
Wants=envladder-place-learner.service
After=network.target envladder-place-learner.service

[Service]
Type=notify
NotifyAccess=all
ExecStart=/usr/local/lib/envladder/supervise %i
EnvironmentFile=-/etc/envladder/redis.env
EnvironmentFile=-/etc/envladder/run-%i.env
User=${P[user]}
Group=${P[user]}
UMask=0027
StateDirectory=envladder
StateDirectoryMode=0750
WorkingDirectory=/var/lib/envladder
Slice=envladder-workers.slice
Delegate=cpu cpuset io memory pids
# A worker that is killed for memory is the supervisor's to replace.
OOMPolicy=continue
# The supervisor is told to stop and stops its children in order; what is left after the bound is killed.
KillMode=mixed
TimeoutStartSec=600
TimeoutStopSec=120
WatchdogSec=${P[watchdogS]}
LimitNOFILE=${P[nofile]}
LimitRTPRIO=${P[rtprio]}
AmbientCapabilities=CAP_SYS_NICE
CapabilityBoundingSet=CAP_SYS_NICE
NoNewPrivileges=yes
RemoveIPC=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectHostname=yes
ProtectClock=yes
DevicePolicy=closed
DeviceAllow=char-nvidia* rw
RestrictSUIDSGID=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
# Not set, and why: MemoryDenyWriteExecute (JIT), RestrictRealtime (SCHED_FIFO is an option of plans), ProtectControlGroups (delegation).
END
}

place_learner_unit() {
  cat <<END
# Written by the rig (rig-slices); goes at revert.
[Unit]
Description=envladder: learners into their slice
StopWhenUnneeded=yes

[Service]
ExecStart=/usr/local/lib/envladder/place-learner ${P[user]}
Slice=envladder-system.slice
TimeoutStopSec=5
CapabilityBoundingSet=CAP_SYS_ADMIN
NoNewPrivileges=yes
ProtectSystem=strict
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
}
