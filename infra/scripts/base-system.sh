#!/usr/bin/env bash
# What everything else stands on: packages, kernel settings, descriptor limits, a kernel that stays, and unattended upgrades that leave the rig's
# packages alone. Each kernel setting is read back from the kernel, and from the files as the next boot will read them; values from before the
# first apply come back at revert.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

param packages '([a-z0-9][a-z0-9.+-]+(,[a-z0-9][a-z0-9.+-]+)*)?' 'package names with commas between' ''
param headers 'yes|no' 'yes or no: the headers of the running kernel, which drivers are built against' no
param kernelHold 'yes|no' 'yes or no' no
param sysctls '([a-z0-9_./-]+>?=[A-Za-z0-9_. -]+(;[a-z0-9_./-]+>?=[A-Za-z0-9_. -]+)*)?' 'key=value or key>=value with semicolons between' ''
param nofile '[0-9]{4,7}' 'a number of descriptors from 1000' 65536

SYSCTL_FILE=/etc/sysctl.d/99-zz-envladder-rig.conf # after 99-sysctl.conf, which is the administrator's /etc/sysctl.conf
LIMITS_FILE=/etc/security/limits.d/90-envladder-rig.conf
APT_FILE=/etc/apt/apt.conf.d/52envladder-rig

wanted_packages() {
  IFS=, read -r -a PACKAGES <<<"${P[packages]}"
  if [ "${P[headers]}" = yes ]; then PACKAGES+=("linux-headers-$(uname -r)"); fi
}
sysctl_path() { printf '/proc/sys/%s' "${1//./\/}"; }
# One space between the numbers of a value, as in the files.
read_sysctl() { tr -s '\t ' ' ' <"$(sysctl_path "$1")"; }
each_sysctl() { tr ';' '\n' <<<"${P[sysctls]:-}" | sed -n 's/^\([^>=]*\)\(>\{0,1\}=\)\(.*\)$/\1 \2 \3/p'; }
# wanted_value KEY OPERATOR VALUE   `>=` never lowers what the host had
wanted_value() {
  local before
  before=$(kept "sysctl-$1" || read_sysctl "$1")
  if [ "$2" = '>=' ] && [[ $before =~ ^[0-9]+$ && $3 =~ ^[0-9]+$ ]] && [ "$before" -ge "$3" ]; then printf '%s' "$before"; else printf '%s' "$3"; fi
}
held_kernel_packages() {
  local each
  for each in "linux-image-$(uname -r)" "linux-headers-$(uname -r)" linux-{image,headers}-{generic,virtual,amd64,cloud-amd64} linux-{generic,virtual}; do
    if package_installed "$each"; then printf '%s\n' "$each"; fi
  done
}

facts() {
  local key operator value
  fact kernel "$(uname -r)"
  while read -r key operator value; do
    if [ -r "$(sysctl_path "$key")" ]; then fact "$key" "$(read_sysctl "$key")"; fi
  done < <(each_sysctl)
}

check_sysctls() {
  local key operator value boot
  boot=$(systemd-analyze cat-config sysctl.d 2>/dev/null || true)
  while read -r key operator value; do
    if [ ! -e "$(sysctl_path "$key")" ]; then
      differ "sysctl:$key" 'this kernel has no such setting'
      continue
    fi
    value=$(wanted_value "$key" "$operator" "$value")
    if [ "$(read_sysctl "$key")" != "$value" ]; then differ "sysctl:$key" "$(read_sysctl "$key"), not $value"; fi
    # The last file that names a key wins at boot.
    if [ "$(sed -n "s/^-\{0,1\}${key//./[./]} *= *//p" <<<"$boot" | tail -n 1)" != "$value" ]; then differ "sysctl-at-boot:$key" 'another file sets it, or none does'; fi
  done < <(each_sysctl)
}
# What a session by PAM, as a login or cron makes it, may open: soft limit (S) or hard limit (H).
session_nofile() { bounded 180 systemd-run --quiet --pipe --wait --collect -p PAMName=login -p User=nobody /bin/sh -c "ulimit -$1n" 2>/dev/null || echo 0; }
check_nofile() {
  local found
  found=$(session_nofile S)
  if [ "$found" != unlimited ] && [ "$found" -lt "${P[nofile]}" ]; then differ nofile "a session has $found, not ${P[nofile]}"; fi
}
check() {
  local each
  wanted_packages
  for each in $(missing_packages "${PACKAGES[@]}"); do differ "package:$each"; done
  write_files
  check_sysctls
  check_nofile
  if [ "${P[kernelHold]}" = yes ]; then
    for each in $(held_kernel_packages); do
      if ! apt-mark showhold | grep -qx "$each"; then differ "hold:$each"; fi
    done
  fi
  if ! apt-config dump | grep -q 'Unattended-Upgrade::Package-Blacklist.*"nvidia-"'; then differ unattended-upgrades; fi
}

# A hard limit is only ever raised.
hard_is_lower() {
  local hard
  hard=$(kept session-hard || session_nofile H)
  [ "$hard" != unlimited ] && [ "$hard" -lt "${P[nofile]}" ]
}
# Names and values of the sysctl file need the before-values, so apply keeps those first.
write_files() {
  local key operator value
  {
    echo '# Written by the rig (base-system); goes at revert.'
    while read -r key operator value; do
      if [ -e "$(sysctl_path "$key")" ]; then echo "$key = $(wanted_value "$key" "$operator" "$value")"; fi
    done < <(each_sysctl)
  } | want_file "$SYSCTL_FILE" 644 root:root
  {
    echo '# Written by the rig (base-system); goes at revert. Sessions; services carry LimitNOFILE of their own.'
    printf '%s soft nofile %s\n' '*' "${P[nofile]}" root "${P[nofile]}"
    if hard_is_lower; then printf '%s hard nofile %s\n' '*' "${P[nofile]}" root "${P[nofile]}"; fi
  } | want_file "$LIMITS_FILE" 644 root:root
  want_file "$APT_FILE" 644 root:root <<'END'
// Written by the rig (base-system); goes at revert. Security updates go on, except of what a running rig is built on: a driver whose library is
// newer than its module answers nothing, and a new kernel has no module at all.
Unattended-Upgrade::Package-Blacklist { "linux-"; "nvidia-"; "libnvidia-"; "cuda-"; "libcudnn"; "redis"; };
Unattended-Upgrade::Automatic-Reboot "false";
END
}
apply() {
  local key operator value each
  if [ "${P[nofile]}" -gt "$(cat /proc/sys/fs/nr_open)" ] && ! each_sysctl | grep -q '^fs.nr_open '; then
    precondition "nofile ${P[nofile]} is over this kernel's fs.nr_open ($(cat /proc/sys/fs/nr_open)): add fs.nr_open to sysctls"
  fi
  if [ ! -e "$STATE/session-hard" ]; then keep session-hard "$(session_nofile H)"; fi
  while read -r key operator value; do
    if [ ! -e "$(sysctl_path "$key")" ]; then precondition "sysctl $key: this kernel has no such setting"; fi
    keep "sysctl-$key" "$(read_sysctl "$key")"
    made sysctls "$key"
  done < <(each_sysctl)
  wanted_packages
  apt_install "${PACKAGES[@]}"
  put_back_dropped
  write_files
  while read -r key operator value; do
    value=$(wanted_value "$key" "$operator" "$value")
    if [ "$(read_sysctl "$key")" = "$value" ]; then continue; fi
    printf '%s' "$value" >"$(sysctl_path "$key")" || fail "sysctl $key: the kernel refuses $value"
    changed "sysctl:$key"
  done < <(each_sysctl)
  if [ "${P[kernelHold]}" = yes ]; then
    for each in $(held_kernel_packages); do
      if apt-mark showhold | grep -qx "$each"; then continue; fi
      made holds "$each"
      apt-mark hold "$each" >&2
      changed "hold:$each"
    done
  else
    release_holds
  fi
}
# Settings that an earlier apply had and this one has no more.
put_back_dropped() {
  local key
  while IFS= read -r key; do
    if ! each_sysctl | grep -q "^$key "; then put_back_sysctl "$key"; fi
  done < <(made_list sysctls)
}
put_back_sysctl() {
  local before
  before=$(kept "sysctl-$1") || return 0
  if [ -e "$(sysctl_path "$1")" ] && [ "$(read_sysctl "$1")" != "$before" ]; then
    printf '%s' "$before" >"$(sysctl_path "$1")" || say "sysctl $1 cannot be put back to $before"
    changed "sysctl:$1"
  fi
}
release_holds() {
  local each
  while IFS= read -r each; do
    if apt-mark showhold | grep -qx "$each"; then
      apt-mark unhold "$each" >&2
      changed "unhold:$each"
    fi
  done < <(made_list holds)
}
revert() {
  local key
  while IFS= read -r key; do put_back_sysctl "$key"; done < <(made_list sysctls)
  release_holds
  apt_revert
}
main "$@"
