#!/bin/bash
# One ladder on the rig, in the delegated service of rig-slices (envladder@PLAN): starts it unless it runs already, and waits for its end unless
# told not to. The service is the host's own, so a lost SSH session ends nothing. A run that ended well is not repeated while plan, options,
# release and units are the same. check says whether it did. Run folders are somebody's results: revert stops the ladder and leaves them.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

param plan '[A-Za-z0-9][A-Za-z0-9_-]{0,63}' 'the name of a plan in the release, as in smoke'
param options '([A-Za-z0-9=._,:%/<>+-]+( [A-Za-z0-9=._,:%/<>+-]+){0,31})?' 'words for envladder ladder, as in --seconds 5' ''
param wait 'yes|no' 'yes or no' yes
param again 'yes|no' 'yes or no' no
# no: settle or wait for the run that is there, and start none
param start 'yes|no' 'yes or no' yes
param timeoutS '[1-9][0-9]{0,6}' 'a number of seconds for which a run is waited for' 1209600
param configHash '([0-9a-f]{16})?' '16 hexadecimal digits' ''

RUNS=/var/lib/envladder/runs
unit() { printf 'envladder@%s.service' "${P[plan]}"; }
active() { [[ $(systemctl show -p ActiveState --value "$(unit)") =~ ^(active|activating|deactivating|reloading)$ ]]; }
ended() { ! active; }
# Another release, plan or service asks for another run.
fingerprint() {
  {
    printf '%s\n' "${P[plan]}" "${P[options]}" "$(readlink /opt/envladder/current || true)"
    cat /etc/systemd/system/envladder*.slice /etc/systemd/system/envladder@.service 2>/dev/null || true
  } | sha256sum | cut -c1-16
}
folder() { kept run || true; }
# put NAME VALUE   unlike keep: the newest counts
put() {
  printf '%s\n' "$2" >"$STATE/.$1.new"
  mv "$STATE/.$1.new" "$STATE/$1"
}
# field NAME   of the run's record, where it stands at the left margin's first level
field() { sed -n "s/^  \"$1\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" "$(folder)/run.json" 2>/dev/null | head -n 1 || true; }

facts() {
  local run
  run=$(folder)
  fact run "$(basename "${run:-none}")"
  fact state "$(if active; then echo running; elif [ -n "$run" ]; then echo ended; else echo none; fi)"
  fact exitCode "$(kept exit-code || true)"
  fact verdict "$(if [ -n "$run" ]; then field verdict; fi)"
}

check() {
  if [ "${P[start]}" = yes ] && [ "$(kept wanted || true)" != "$(fingerprint)" ]; then
    differ run 'no run of this plan with this release and these slices'
    return
  fi
  if [ "${P[wait]}" = no ]; then return; fi
  if active; then
    differ run 'it still runs'
  elif [ "$(kept exit-code || true)" != 0 ]; then
    differ exit-code "$(kept exit-code || echo none)"
  fi
}

# What is known of the host, for the run's record (harness/contract/rig-facts.ts reads it).
write_facts() {
  local name
  {
    printf '{"schema":1,"config_hash":%s,"slices":{' "$(if [ -n "${P[configHash]}" ]; then json_text "${P[configHash]}"; else printf null; fi)"
    for name in system learner redis workers; do
      printf '%s"%s":"/sys/fs/cgroup/envladder.slice/envladder-%s.slice"' "$([ "$name" = system ] || printf ,)" "$name" "$name"
    done
    printf '},"facts":{"systemd":%s,"virtualization":%s,"sockets":%s,"numa_nodes":%s,"release":%s,"gpus":%s,"gpu_driver":%s,"gpu_names":%s,"swap_mib":%s,"thp":%s}}\n' \
      "$(json_value "$(systemctl --version | awk 'NR == 1 {print $2}')")" \
      "$(json_text "$(systemd-detect-virt 2>/dev/null || true)")" \
      "$(cat /sys/devices/system/cpu/cpu*/topology/physical_package_id 2>/dev/null | sort -u | wc -l)" \
      "$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' 2>/dev/null | wc -l)" \
      "$(json_text "$(basename "$(readlink /opt/envladder/current || true)")")" \
      "$(nvidia_says name | grep -c . || true)" \
      "$(json_text "$(nvidia_says driver_version | head -n 1)")" \
      "$(json_text "$(nvidia_says name | sort | uniq -c | sed 's/^ *//' | tr '\n' ';')")" \
      "$(awk '/^SwapTotal:/ {print int($2 / 1024)}' /proc/meminfo)" \
      "$(json_text "$(sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || true)")"
  } >"$1"
  chmod 644 "$1"
}
plans() { find /opt/envladder/current/ladders/ -name '*.yaml' -printf '%f ' 2>/dev/null | sed 's/\.yaml / /g' || true; }
nvidia_says() { if command -v nvidia-smi >/dev/null; then bounded 30 nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null || true; fi; }

start() {
  local run
  run=$RUNS/${P[plan]}-$(date -u +%Y%m%dT%H%M%SZ)
  [ -e /etc/systemd/system/envladder@.service ] || precondition 'there is no envladder@.service: rig-slices comes before'
  [ -e /opt/envladder/current/ladders/"${P[plan]}".yaml ] || precondition "the release has no plan ${P[plan]}; it has: $(plans)"
  bounded 30 systemctl reset-failed "$(unit)" 2>/dev/null || true
  rm -f "$STATE/exit-code" "$STATE/wanted"
  keep_path /etc/envladder/rig-facts.json
  keep_path "/etc/envladder/run-${P[plan]}.env"
  make_dir /etc/envladder
  write_facts /etc/envladder/rig-facts.json
  printf 'ENVLADDER_OUT=%s\nENVLADDER_LADDER_OPTIONS="%s"\nENVLADDER_RIG_FACTS=/etc/envladder/rig-facts.json\n' "$run" "${P[options]}" >"/etc/envladder/run-${P[plan]}.env"
  chmod 644 "/etc/envladder/run-${P[plan]}.env"
  made units "$(unit)"
  put run "$run"
  put wanted "$(fingerprint)"
  # The ladder's start is its own affair: a READY that comes late must not hold this session.
  bounded 60 systemctl start --no-block "$(unit)"
  until_true 30 begun || fail "the service does not start: $(last_words)"
  changed "started $(basename "$run")"
}
begun() { active || [ -e "$(folder)/run.json" ] || [ "$(systemctl show -p Result --value "$(unit)")" != success ]; }
last_words() { journalctl -u "$(unit)" -n 3 -o cat --no-pager 2>/dev/null | tr '\n' ' ' | cut -c1-160 || true; }
# The record is the run's own word; without one the service's exit status is all there is.
settle() {
  local code
  code=$(field exit_code)
  if [ -z "$code" ] || [ "$(sed -n 's/^    "state": "\(.*\)",$/\1/p' "$(folder)/run.json" 2>/dev/null | head -n 1)" = running ]; then
    code=$(systemctl show -p ExecMainStatus --value "$(unit)")
    if [ "$code" = 0 ]; then code=1; fi # without a record nothing was shown
  fi
  put exit-code "$code"
}

wanted_now() { [ "${P[again]}" = yes ] || [ "$(kept wanted || true)" != "$(fingerprint)" ] || [ "$(kept exit-code || true)" != 0 ]; }
apply() {
  if [[ " ${P[options]} " =~ [[:space:]]--(plan|out)[=[:space:]] ]]; then usage 'options holds --plan or --out: the plan is a key of its own, and the run folder is chosen here'; fi
  # A run whose session was lost is settled first: it may be the one that is wanted.
  if ! active && [ -n "$(folder)" ] && [ ! -e "$STATE/exit-code" ]; then settle; fi
  if active; then
    say "$(unit) runs already: $(basename "$(folder)")"
  elif [ "${P[start]}" = no ]; then
    [ -n "$(folder)" ] || precondition "no run of ${P[plan]} was started on this host by the rig"
  elif wanted_now; then
    start
  fi
  if [ "${P[wait]}" = no ]; then return; fi
  until_true "${P[timeoutS]}" ended || fail "the ladder still runs after ${P[timeoutS]} s, and goes on: npm run rig:ladder -- --attach ${P[plan]}"
  if [ ! -e "$STATE/exit-code" ]; then settle; fi
  if [ "$(kept exit-code)" != 0 ]; then
    rm -f "$STATE/unfinished"
    collect_facts AFTER
    fail "the ladder ended with exit code $(kept exit-code), verdict $(field verdict), in $(folder): $(last_words)"
  fi
}
revert() {
  local each
  while IFS= read -r each; do
    bounded 180 systemctl stop "$each" 2>/dev/null || true
    bounded 30 systemctl reset-failed "$each" 2>/dev/null || true
    changed "stopped $each"
  done < <(made_list units)
}
main "$@"
