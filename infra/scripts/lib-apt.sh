# shellcheck shell=bash
# Packages, for the scripts of the rig; sourced by lib.sh. Names of packages an install will add are written down before it starts, so revert
# removes those and no others. Services that packages bring do not start by themselves. Waits for other users of dpkg.

export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
APT=(-y -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0 -o APT::Get::AutomaticRemove=false)
POLICY=/usr/sbin/policy-rc.d

package_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
missing_packages() {
  local each
  for each in "$@"; do if ! package_installed "$each"; then printf '%s\n' "$each"; fi; done
}

# Forbids service starts while this process lives: a policy file that a killed apply leaves behind forbids nothing.
close_policy() {
  if [ -e "$POLICY" ] && ! grep -q envladder-rig "$POLICY"; then mv "$POLICY" "$POLICY.before-envladder-rig"; fi
  cat >"$POLICY.rig-new" <<END
#!/bin/sh
# envladder-rig: no service starts while packages are installed by process $$; anybody else is asked the policy that was here before.
if [ "\$(cut -d' ' -f22 /proc/$$/stat 2>/dev/null)" = "$(cut -d' ' -f22 /proc/$$/stat)" ]; then exit 101; fi
if [ -x $POLICY.before-envladder-rig ]; then exec $POLICY.before-envladder-rig "\$@"; fi
END
  chmod 755 "$POLICY.rig-new"
  mv -f "$POLICY.rig-new" "$POLICY"
}
open_policy() {
  if [ -e "$POLICY.before-envladder-rig" ]; then
    mv -f "$POLICY.before-envladder-rig" "$POLICY"
  elif grep -qs envladder-rig "$POLICY"; then
    rm -f "$POLICY"
  fi
}

# One concern at a time uses apt, whatever the order of the program.
hold_apt() {
  exec 8>"$RIG_LOCKS/envladder-rig-apt.lock"
  flock -w 900 8 || fail 'another concern still uses apt after 900 s'
  open_policy # of an apply that was killed
  if [ -n "$(dpkg --audit 2>/dev/null)" ]; then
    say 'dpkg was interrupted: finishing what it began'
    close_policy
    bounded 900 dpkg --configure -a --force-confdef --force-confold >&2 || true
    logged apt-repair 900 apt-get "${APT[@]}" -f install || fail "dpkg was interrupted and cannot be repaired: run dpkg --audit on the host"
    open_policy
  fi
}
release_apt() { flock -u 8; }

update_lists() {
  local try
  for try in 1 2 3; do
    if logged apt-update 300 apt-get "${APT[@]}" update; then return; fi
    say "apt-get update failed ($try of 3)"
    sleep $((try * 5)) # somebody else may be holding the lists
  done
  fail 'the package lists cannot be read; see the words above'
}

# apt_install PACKAGE...   adds what is missing
apt_install() {
  local -a missing
  local plan each
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  hold_apt
  if ! plan=$(apt-get "${APT[@]}" -s --no-install-recommends install "${missing[@]}" 2>/dev/null) || [ -z "$(find /var/lib/apt/lists -name '*Packages*' -mtime -1 -print -quit)" ]; then
    update_lists
    plan=$(apt-get "${APT[@]}" -s --no-install-recommends install "${missing[@]}" 2>&1) || fail "apt cannot install ${missing[*]}: $(grep -m1 '^E:' <<<"$plan")"
  fi
  # `Inst name (version ...)` is new, `Inst name [old version] (...)` is an upgrade of what was there.
  while IFS= read -r each; do made packages "$each"; done < <(awk '$1 == "Inst" && $3 !~ /^\[/ {print $2}' <<<"$plan")
  close_policy
  logged apt-install 1800 apt-get "${APT[@]}" --no-install-recommends install "${missing[@]}" || {
    open_policy
    fail "apt-get install ${missing[*]} failed; see the words above"
  }
  open_policy
  release_apt
  changed "packages: ${missing[*]}"
}

# apt_revert   purges what apt_install added, except what something that is not ours needs by now
apt_revert() {
  local -a ours=() goes=()
  local each others
  if [ ! -e "$STATE/made-packages" ]; then return; fi
  hold_apt # also when nothing came of it: a killed install may have left its policy file, or dpkg in the middle
  while IFS= read -r each; do if package_installed "$each"; then ours+=("$each"); fi; done < <(made_list packages)
  if [ ${#ours[@]} -eq 0 ]; then
    release_apt
    return
  fi
  removal_of() { apt-get "${APT[@]}" -s purge "$@" 2>/dev/null | awk '$1 == "Purg" || $1 == "Remv" {print $2}'; }
  strangers_in() { grep -vxFf <(printf '%s\n' "${ours[@]}") || true; }
  goes=("${ours[@]}")
  if [ -n "$(removal_of "${ours[@]}" | strangers_in)" ]; then
    goes=()
    for each in "${ours[@]}"; do
      others=$(removal_of "$each" | strangers_in | tr '\n' ' ')
      if [ -z "$others" ]; then goes+=("$each"); else say "package $each stays: $others needs it"; fi
    done
  fi
  if [ ${#goes[@]} -gt 0 ]; then
    logged apt-purge 900 apt-get "${APT[@]}" purge "${goes[@]}" || fail "apt-get purge ${goes[*]} failed; see the words above"
    changed "packages removed: ${goes[*]}"
  fi
  release_apt
}
