#!/bin/bash
# The NVIDIA driver of one exact version from its .run file: nouveau kept away, the distribution's own driver packages purged and pinned away,
# the kernel module built by DKMS for every installed kernel, a unit for nvidia-persistenced. check asks nvidia-smi, which works only when module,
# library and device agree. A nouveau that will not let go needs a reboot first (exit code 79; the marker is set).
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/lib-fetch.sh
. "$(dirname "$0")/lib-fetch.sh"

param version '[0-9]{3}\.[0-9]{1,3}(\.[0-9]{1,3})?' 'a driver version as in 525.85.12'
param runfile "$SOURCE_PATTERN" "$SOURCE_WORDS"
param sha256 "$SHA256_PATTERN" "$SHA256_WORDS"

UNIT=/etc/systemd/system/nvidia-persistenced.service
USER_NAME=nvidia-persistenced

smi() { if command -v nvidia-smi >/dev/null; then bounded 60 nvidia-smi "$@" 2>/dev/null || true; fi; }
installed_version() { smi --query-gpu=driver_version --format=csv,noheader | sort -u | tr '\n' ' ' | sed 's/ $//'; }
# Versions of the loaded module and of the library can differ after half an upgrade; the module says its own here.
module_version() { sed -n 's/^NVRM version:.* \([0-9][0-9.]*\)  .*/\1/p' /proc/driver/nvidia/version 2>/dev/null || true; }
nouveau_loaded() { [ -e /sys/module/nouveau ]; }
kernels() { find /lib/modules -mindepth 1 -maxdepth 1 -type d -exec test -e '{}/build' \; -printf '%f\n' | sort; }
# Packages of the distribution that would fight with the .run file's files.
foreign_packages() {
  dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
    sed -nE 's/^installed ((nvidia|libnvidia|cuda-drivers|xserver-xorg-video-nvidia|linux-(modules|objects|signatures)-nvidia)(-.*)?)$/\1/p' |
    grep -vE '^nvidia-(container|settings-common)' || true
}
built_for() { dkms status "nvidia/${P[version]}" 2>/dev/null | grep -E "[ ,/]$1[ ,].*installed" || true; }

facts() {
  fact driver "$(installed_version)"
  fact module "$(module_version)"
  fact gpus "$(smi --query-gpu=name --format=csv,noheader | grep -c . || true)"
  fact nouveau "$(if nouveau_loaded; then echo loaded; else echo absent; fi)"
}

want_files() {
  want_file /etc/modprobe.d/90-envladder-nouveau.conf 644 root:root <<END
# envladder-rig: the NVIDIA driver and nouveau cannot share a GPU.
blacklist nouveau
blacklist lbm-nouveau
options nouveau modeset=0
alias nouveau off
END
  # Nothing of the distribution's driver comes in by itself: module and library would differ in version.
  want_file /etc/apt/preferences.d/90-envladder-nvidia 644 root:root <<END
Explanation: envladder-rig installs the driver from its .run file; packages of another version would break it.
Package: nvidia-* libnvidia-* cuda-drivers* xserver-xorg-video-nvidia* linux-modules-nvidia-* linux-objects-nvidia-*
Pin: release *
Pin-Priority: -1
END
  want_file /etc/apt/apt.conf.d/90-envladder-nvidia 644 root:root <<END
// envladder-rig: no driver package by unattended-upgrades either.
Unattended-Upgrade::Package-Blacklist { "nvidia-"; "libnvidia-"; "cuda-drivers"; };
END
  want_file "$UNIT" 644 root:root <<END
# Written by the rig (nvidia-driver); goes at revert. The .run file brings the program and no unit.
[Unit]
Description=NVIDIA persistence daemon
Wants=syslog.target

[Service]
Type=forking
ExecStart=/usr/bin/nvidia-persistenced --user $USER_NAME --verbose
ExecStopPost=/bin/rm -rf /var/run/nvidia-persistenced
RuntimeDirectory=nvidia-persistenced
# A stop that hangs must not hold up a reboot.
TimeoutStopSec=20

[Install]
WantedBy=multi-user.target
END
  want_link /etc/systemd/system/multi-user.target.wants/nvidia-persistenced.service "$UNIT"
}

check() {
  local found kernel
  want_files
  if nouveau_loaded; then differ nouveau 'it is loaded'; fi
  found=$(foreign_packages | tr '\n' ' ')
  if [ -n "$found" ]; then differ packages "$found"; fi
  found=$(installed_version)
  if [ "$found" != "${P[version]}" ]; then differ driver "nvidia-smi says ${found:-nothing}"; fi
  found=$(module_version)
  if [ -n "$found" ] && [ "$found" != "${P[version]}" ]; then differ module "the loaded module is $found"; fi
  for kernel in $(kernels); do
    if [ -z "$(built_for "$kernel")" ]; then differ "dkms:$kernel" 'no module for this kernel: it will not come up with it'; fi
  done
  if [ "$(systemctl is-active nvidia-persistenced.service 2>/dev/null)" != active ]; then differ persistenced 'not running'; fi
  if smi --query-gpu=persistence_mode --format=csv,noheader | grep -qv Enabled; then differ persistence-mode 'not enabled on every GPU'; fi
}

preflight() {
  command -v dkms >/dev/null || precondition 'dkms is not here: base-system installs it (packages dkms, build-essential, pkg-config)'
  command -v cc >/dev/null || precondition 'there is no C compiler: base-system installs it (package build-essential)'
  [ -e "/lib/modules/$(uname -r)/build" ] || precondition "the headers of the running kernel are missing: apt-get install linux-headers-$(uname -r)"
  # The compiler must be of the kernel's major version: another may not know its options.
  local kernel ours
  kernel=$(sed -nE 's/.*gcc[^0-9]*([0-9]+)\..*/\1/p' /proc/version | head -n 1)
  ours=$(cc -dumpversion | cut -d. -f1)
  if [ -n "$kernel" ] && [ "$kernel" != "$ours" ]; then say "the kernel was built with gcc $kernel, cc here is $ours: the module may not build"; fi
}
purge_foreign() {
  local -a packages
  local each
  mapfile -t packages < <(foreign_packages)
  if [ ${#packages[@]} -eq 0 ]; then return; fi
  for each in "${packages[@]}"; do made purged "$each=$(dpkg-query -W -f '${Version}' "$each")"; done
  hold_apt
  logged apt-purge 900 apt-get "${APT[@]}" purge "${packages[@]}" || fail "apt-get purge ${packages[*]} failed; see the words above"
  release_apt
  changed "purged ${packages[*]}"
}
unload_nouveau() {
  if ! nouveau_loaded; then return; fi
  local console
  # The text console on it lets go when it is told to.
  for console in /sys/class/vtconsole/vtcon*; do if grep -qs 'frame buffer' "$console/name"; then echo 0 >"$console/bind" || true; fi; done
  bounded 60 modprobe -r nouveau || true
  if ! nouveau_loaded; then
    changed 'unloaded nouveau'
    return
  fi
  mark_reboot 'nouveau is in use and now blacklisted'
  needs_reboot 'nouveau is in use: reboot this host, then go on. It will not be loaded again'
}
want_user() {
  if id -u "$USER_NAME" >/dev/null 2>&1; then return; fi
  made users "$USER_NAME"
  useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin --comment 'NVIDIA persistence daemon' "$USER_NAME"
  changed "user:$USER_NAME"
}
users_of_the_gpu() { if command -v fuser >/dev/null; then fuser /dev/nvidia* 2>/dev/null || true; fi; }
install_driver() {
  local kernel lacking=''
  for kernel in $(kernels); do if [ -z "$(built_for "$kernel")" ]; then lacking=$kernel; fi; done
  if [ "$(installed_version)" = "${P[version]}" ] && [ -z "$lacking" ]; then return; fi
  fetch "${P[runfile]}" "${P[sha256]}"
  systemctl stop nvidia-persistenced.service 2>/dev/null || true
  if [ -n "$(users_of_the_gpu)" ]; then precondition "processes use the GPU ($(users_of_the_gpu)): stop them, then go on"; fi
  bounded 60 modprobe -r nvidia_uvm nvidia_drm nvidia_modeset nvidia_peermem nvidia 2>/dev/null || true
  # What a build that failed left behind stops the next one.
  if dkms status "nvidia/${P[version]}" 2>/dev/null | grep -q . && [ "$(installed_version)" != "${P[version]}" ]; then
    bounded 300 dkms remove "nvidia/${P[version]}" --all || true
  fi
  made versions "${P[version]}"
  keep driver-before "$(installed_version)"
  logged nvidia-installer 2400 sh "$FETCHED" --silent --dkms --no-opengl-files --no-x-check || {
    tail -n 15 /var/log/nvidia-installer.log 2>/dev/null >&2 || true
    fail "the driver's installer failed; the whole log is /var/log/nvidia-installer.log on the host"
  }
  for kernel in $(kernels); do
    if [ -z "$(built_for "$kernel")" ]; then logged "dkms-$kernel" 1200 dkms install "nvidia/${P[version]}" -k "$kernel" || fail "the module does not build for kernel $kernel"; fi
  done
  changed "driver ${P[version]}"
}
apply() {
  local before=$CHANGED
  preflight
  want_files
  if [ "$CHANGED" != "$before" ] || [ "$UNFINISHED" = true ]; then logged initramfs 600 update-initramfs -u -k all || fail 'the initramfs cannot be made anew: nouveau would come back at the next boot'; fi
  purge_foreign
  unload_nouveau
  want_user
  install_driver
  forget_fetched
  # -u: the device nodes of unified memory as well, which CUDA needs.
  bounded 120 nvidia-modprobe -c 0 -u || fail 'the module does not load: see dmesg on the host (Secure Boot? another kernel?)'
  reload_units
  if [ "$(systemctl is-active nvidia-persistenced.service)" != active ]; then changed 'nvidia-persistenced started'; fi
  if [ "$CHANGED" = true ]; then bounded 60 systemctl restart nvidia-persistenced.service; fi
}
revert() {
  local each
  bounded 60 systemctl stop nvidia-persistenced.service 2>/dev/null || true
  if [ -n "$(made_list versions)" ]; then
    bounded 60 modprobe -r nvidia_uvm nvidia_drm nvidia_modeset nvidia_peermem nvidia 2>/dev/null || true
    if command -v nvidia-uninstall >/dev/null; then
      logged nvidia-uninstall 900 nvidia-uninstall --silent || fail 'nvidia-uninstall failed: see /var/log/nvidia-uninstall.log on the host'
      changed 'driver removed'
    fi
    while IFS= read -r each; do bounded 300 dkms remove "nvidia/$each" --all 2>/dev/null || true; done < <(made_list versions)
    rm -f /var/log/nvidia-installer.log /var/log/nvidia-uninstall.log
  fi
  while IFS= read -r each; do if id -u "$each" >/dev/null 2>&1; then userdel "$each"; fi; done < <(made_list users)
  # The pin goes before packages come back.
  revert_paths
  while IFS= read -r each; do
    if package_installed "${each%%=*}"; then continue; fi
    hold_apt
    logged apt-again 900 apt-get "${APT[@]}" --no-install-recommends install "$each" ||
      logged apt-again 900 apt-get "${APT[@]}" --no-install-recommends install "${each%%=*}" ||
      say "the package ${each%%=*} was here before and cannot be installed again: it is no longer in the archive"
    release_apt
  done < <(made_list purged)
  bounded 60 systemctl daemon-reload
  logged initramfs 600 update-initramfs -u -k all || say 'the initramfs could not be made anew'
}
main "$@"
