// Everything on a test machine that a rig could leave behind, as sorted lines of text: files with mode, owner and content, packages, users,
// units, kernel settings, cgroups, shared memory. Two listings of a machine that was left as it was found are equal. Sessions of
// those who look are no part of it.
import type { Machine } from './machine.js';

/** Changes with every use of a machine, whoever uses it, or is a cache of what is listed elsewhere. */
const VOLATILE =
  '^/etc/(passwd|group|shadow|gshadow|subuid|subgid)-$|^/etc/(ld.so.cache|\\.pwd.lock|\\.updated)$|/\\.ssh/|/\\.bash_history$|/__pycache__/';
const VOLATILE_SYSCTLS =
  'fs.quota|random|ns_last_pid|-nr |-state |inode-nr|file-nr|dentry|cdrom|domain|netfilter|nf_conntrack|keys.quota|sched_domain|route.flush';

const FOLDERS = '/etc /opt /usr/local /root /home /srv /var/spool /usr/lib/systemd /dev/shm';

const LISTING = `
find ${FOLDERS} -xdev ! -type d -printf '%p %m %u %g %l\\n' 2>/dev/null | grep -vE '${VOLATILE}' | sed 's/^/file /'
find ${FOLDERS} -xdev -type d -printf 'folder %p %m %u %g\\n' 2>/dev/null | grep -vE '${VOLATILE}'
find /etc /opt /usr/local /srv /dev/shm -xdev -type f -print0 2>/dev/null | xargs -0 sha256sum | awk '{print $2, $1}' | grep -vE '^/etc/(ld.so.cache|passwd-|group-|shadow-|gshadow-|\\.updated)' | sed 's/^/content /'
ls -d /var/lib/* /var/log/redis* /run/envladder* /run/redis* /run/lock/envladder* 2>/dev/null | sed 's/^/state /'
dpkg-query -W -f 'package \${Package} \${Version} \${db:Status-Abbrev}\\n'
apt-mark showhold | sed 's/^/hold /'
getent passwd | sed 's/^/user /'; getent group | sed 's/^/group /'
systemctl list-unit-files --no-legend --no-pager | awk '$2 != "transient" {print "unit-file", $1, $2}'
systemctl list-units --all --no-legend --no-pager --plain --type=timer,slice,socket | awk '$1 !~ /^user-/ {print "unit", $1, $2, $3}'
systemctl --failed --no-legend --plain | sed 's/^/failed /'
find /sys/fs/cgroup -type d \\( -name '*envladder*' -o -name '*redis*' \\) | sed 's/^/cgroup /'
sysctl -a 2>/dev/null | grep -vE '${VOLATILE_SYSCTLS}' | sed 's/^/sysctl /'
cat /sys/kernel/mm/transparent_hugepage/enabled | sed 's/^/hugepages /'
`;

/** Sorted lines. */
export async function listHost(machine: Machine): Promise<string[]> {
  return (await machine.sh(LISTING)).split('\n').sort();
}

/** What `later` has more (+) and less (-) than `earlier`. */
export function differences(earlier: readonly string[], later: readonly string[]): string[] {
  const [before, after] = [new Set(earlier), new Set(later)];
  return [
    ...earlier.filter((line) => !after.has(line)).map((line) => `- ${line}`),
    ...later.filter((line) => !before.has(line)).map((line) => `+ ${line}`),
  ];
}
