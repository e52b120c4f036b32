// Things on a test machine that are somebody else's: a rig must neither touch them on the way up nor take them along on the way down.
import type { Machine } from './machine.js';

export const FOREIGN_SEGMENT = '/dev/shm/somebody-elses-segment';

export async function putForeignFiles(machine: Machine): Promise<void> {
  await machine.sh(`set -e
mkdir -p /opt/somebody /etc/systemd/system/somebody.service.d
echo theirs > /opt/somebody/notes
printf '[Service]\\nNice=1\\n' > /etc/systemd/system/somebody.service.d/theirs.conf
echo 'net.core.somaxconn = 8192' > /etc/sysctl.d/70-somebody.conf && sysctl -q -p /etc/sysctl.d/70-somebody.conf
printf '[Unit]\\nDescription=theirs\\n[Service]\\nExecStart=/bin/sleep infinity\\n[Install]\\nWantedBy=multi-user.target\\n' > /etc/systemd/system/somebody.service
systemctl daemon-reload && systemctl enable -q --now somebody.service
printf '#!/bin/sh\\ntrue\\n' > /etc/cron.hourly/somebody && chmod 755 /etc/cron.hourly/somebody
head -c 4096 /dev/zero > ${FOREIGN_SEGMENT}
useradd --system --uid 605 --no-create-home somebody`);
}

/** Lines for what is gone or changed; empty when all is as it was put. */
export async function missingForeignFiles(machine: Machine): Promise<string> {
  return machine.sh(`
grep -qx theirs /opt/somebody/notes || echo /opt/somebody/notes
test "$(cat /proc/sys/net/core/somaxconn)" = 8192 || echo somaxconn
systemctl is-active -q somebody.service || echo somebody.service
grep -q Nice=1 /etc/systemd/system/somebody.service.d/theirs.conf || echo drop-in
test -x /etc/cron.hourly/somebody || echo cron
test "$(stat -c %s ${FOREIGN_SEGMENT})" = 4096 || echo ${FOREIGN_SEGMENT}
id -u somebody >/dev/null || echo user`);
}
