#!/usr/bin/env bash
# The host that the rig tests provision: a throw-away Debian 12 machine (systemd, cgroup v2, sshd) in QEMU's own emulation, so that no
# virtualisation rights are needed. scripts/setup-rig-vm.mjs builds the image once per machine; the tests start copies of its snapshot.
#   vm.sh build IMAGE            packages -> disk image, kernel, keys (root; two minutes)
#   vm.sh boot IMAGE DIR         fresh disk, cold start, wait for SSH (30 to 90 s)
#   vm.sh save DIR SNAPSHOT      RAM and disk of the running machine into one file; the machine ends
#   vm.sh resume IMAGE SNAPSHOT DIR   start from such a file (5 s), clock set again
#   vm.sh ssh DIR USER [COMMAND...]   users: root, rig (sudo without password), plain (no sudo)
#   vm.sh stop DIR               ends this machine, and only this one; its disk is thrown away
# IMAGE, DIR: folders. Environment: PORT (SSH on 127.0.0.1), ADDRESS (another loopback address), MEMORY_MIB, CPUS, DISK.
# Needs: debootstrap qemu-system-x86 qemu-utils e2fsprogs openssh-client, and node for the monitor.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PORT=${PORT:-2222} ADDRESS=${ADDRESS:-127.0.0.1} MEMORY_MIB=${MEMORY_MIB:-2048} CPUS=${CPUS:-2} DISK=${DISK:-16G}
RELEASE=bookworm
# What a minimal server has. A compiler, dkms and headers are there because the GPU's concerns ask for them and installing them under
# emulation takes minutes; redis and whatever else the rig brings is left for its scripts to install.
PACKAGES=systemd,systemd-sysv,libpam-systemd,dbus,udev,kmod,procps,iproute2,sudo,openssh-server,ca-certificates,cron,curl,psmisc,build-essential,dkms,pkg-config,libvulkan1,xz-utils,linux-image-cloud-amd64,linux-headers-cloud-amd64

say() { printf 'vm: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

guest() { # guest DIR USER COMMAND...
  local dir=$1 user=$2
  shift 2
  ssh -q -i "$dir/id" -p "$(cat "$dir/port")" -o UserKnownHostsFile="$dir/known_hosts" -o HostKeyAlias=rig-vm -o StrictHostKeyChecking=yes \
    -o IdentitiesOnly=yes -o ConnectTimeout=20 -o BatchMode=yes "$user@$(cat "$dir/address")" "$@"
}

monitor() { node "$here/vm-monitor.mjs" "$1/monitor" "${@:2}"; }

# The first Debian mirror this machine itself uses, in either format of apt's source lists.
debian_mirror() {
  awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/*.sources 2>/dev/null | grep . && return
  awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z+]+:\/\//) { print $i; exit } }' /etc/apt/sources.list | grep .
}

copy_apt_configuration() {
  local root=$1 file
  rm -f "$root/etc/apt/sources.list"
  cp /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/" 2>/dev/null || cp /etc/apt/sources.list "$root/etc/apt/"
  for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
    # The rest of a machine's apt.conf.d belongs to its own packages and hooks; what reaches the mirror is settings of Acquire.
    if [ -f "$file" ] && grep -q '^ *Acquire' "$file"; then cp "$file" "$root/etc/apt/apt.conf.d/"; fi
  done
  cp /etc/hosts "$root/etc/hosts"
}

build() {
  local image=$1 root=$1/root
  [ "$(id -u)" = 0 ] || die 'building the image needs root (debootstrap makes device files and chroots)'
  mkdir -p "$image"
  rm -rf "$root"
  debootstrap --variant=minbase --include="$PACKAGES" "$RELEASE" "$root" "$(debian_mirror)" >"$image/debootstrap.log" 2>&1 ||
    { tail -5 "$image/debootstrap.log" >&2; die "debootstrap failed, see $image/debootstrap.log"; }
  copy_apt_configuration "$root"
  echo rig-vm >"$root/etc/hostname"
  echo '127.0.1.1 rig-vm' >>"$root/etc/hosts"
  echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf" # QEMU's user network answers there
  printf '[Match]\nName=e*\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n' >"$root/etc/systemd/network/10-rig-vm.network"
  echo '/dev/vda / ext4 defaults,noatime 0 1' >"$root/etc/fstab"
  # A fixed ed25519 host key, so that the tests can pin it, and one client key for all three users.
  ssh-keygen -q -t ed25519 -N '' -C rig-test -f "$image/id"
  rm -f "$root"/etc/ssh/ssh_host_*
  ssh-keygen -q -t ed25519 -N '' -C '' -f "$root/etc/ssh/ssh_host_ed25519_key"
  cut -d' ' -f1,2 "$root/etc/ssh/ssh_host_ed25519_key.pub" >"$image/host_key.pub"
  echo "rig-vm $(cat "$image/host_key.pub")" >"$image/known_hosts"
  printf 'PermitRootLogin prohibit-password\nPasswordAuthentication no\nUseDNS no\n' >"$root/etc/ssh/sshd_config.d/rig-vm.conf"
  chroot "$root" useradd --create-home --shell /bin/bash rig
  chroot "$root" useradd --create-home --shell /bin/bash plain
  install -m 440 /dev/stdin "$root/etc/sudoers.d/rig" <<<'rig ALL=(ALL) NOPASSWD: ALL'
  local user home
  for user in root rig plain; do
    home=$root$(awk -F: -v name="$user" '$1 == name { print $6 }' "$root/etc/passwd")
    install -d -m 700 "$home/.ssh"
    install -m 600 "$image/id.pub" "$home/.ssh/authorized_keys"
    chroot "$root" chown -R "$user:" "${home#"$root"}/.ssh"
  done
  # Their service managers run from the boot on: starting one for every SSH session is most of a short session's time under emulation.
  install -d "$root/var/lib/systemd/linger"
  touch "$root/var/lib/systemd/linger/root" "$root/var/lib/systemd/linger/rig"
  chroot "$root" systemctl enable -q systemd-networkd ssh
  # Background jobs of the distribution would make every measurement under emulation a matter of luck.
  chroot "$root" systemctl mask -q apt-daily.timer apt-daily-upgrade.timer e2scrub_reap.service e2scrub_all.timer fstrim.timer man-db.timer dpkg-db-backup.timer logrotate.timer 2>/dev/null || true
  cp "$root"/boot/vmlinuz-* "$image/vmlinuz"
  cp "$root"/boot/initrd.img-* "$image/initrd"
  rm -rf "$root"/var/cache/apt/archives/*.deb
  truncate -s "$DISK" "$image/base.img"
  mkfs.ext4 -q -F -O '^has_journal' -E lazy_itable_init=1 -d "$root" "$image/base.img"
  rm -rf "$root"
}

wait_for_ssh() {
  local dir=$1 end=$((SECONDS + 300))
  while [ "$SECONDS" -lt "$end" ]; do
    if guest "$dir" root true 2>/dev/null; then return 0; fi
    kill -0 "$(cat "$dir/pid")" 2>/dev/null || die "QEMU ended, see $dir/console.log"
    sleep 0.3
  done
  die "no SSH answer in 5 minutes, see $dir/console.log"
}

# A snapshot loads only into the very same machine, so there is one place that describes it.
qemu() {
  local image=$1 dir=$2
  shift 2
  cp "$image/id" "$image/known_hosts" "$image/host_key.pub" "$dir/"
  echo "$PORT" >"$dir/port"
  echo "$ADDRESS" >"$dir/address"
  qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp "$CPUS" -m "$MEMORY_MIB" -display none -daemonize -pidfile "$dir/pid" \
    -serial "file:$dir/console.log" -monitor "unix:$dir/monitor,server,nowait" -kernel "$image/vmlinuz" -initrd "$image/initrd" \
    -append 'root=/dev/vda rw console=ttyS0 net.ifnames=0 quiet' -drive "file=$dir/disk.qcow2,if=virtio,cache=unsafe" -device virtio-rng-pci \
    -netdev "user,id=n,hostfwd=tcp:$ADDRESS:$PORT-:22" -device virtio-net-pci,netdev=n "$@"
  wait_for_ssh "$dir"
}

boot() {
  mkdir -p "$2"
  qemu-img create -q -f qcow2 -F raw -b "$(realpath "$1")/base.img" "$2/disk.qcow2"
  qemu "$1" "$2"
}

save() {
  local dir=$1 snapshot=$2 pid
  pid=$(cat "$dir/pid")
  # The page cache goes along: a machine that must read every program from its disk again is slow to answer.
  guest "$dir" root sync
  monitor "$dir" 'savevm clean' 'quit'
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  rm -f "$dir/pid"
  mv "$dir/disk.qcow2" "$snapshot"
}

resume() {
  local image=$1 snapshot=$2 dir=$3
  mkdir -p "$dir"
  cp --sparse=always --reflink=auto "$snapshot" "$dir/disk.qcow2"
  qemu-img rebase -q -u -F raw -b "$(realpath "$image")/base.img" "$dir/disk.qcow2"
  qemu "$image" "$dir" -loadvm clean
  guest "$dir" root "date -s @$(date +%s)" >/dev/null
}

stop() {
  local dir=$1 pid
  [ -f "$dir/pid" ] || return 0
  pid=$(cat "$dir/pid")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 50); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$dir/pid" "$dir/disk.qcow2"
}

action=${1:-}
[ $# -ge 2 ] || die 'usage: vm.sh build|boot|save|resume|ssh|stop FOLDER ...; the head of the file explains'
shift
case $action in
build) build "$@" ;;
boot) boot "$@" ;;
save) save "$@" ;;
resume) resume "$@" ;;
ssh) guest "$@" ;;
stop) stop "$@" ;;
*) die "unknown action: $action" ;;
esac
