// Sends commands to a QEMU monitor over its unix socket, one after the other, and waits for each answer. test/rig/vm.sh uses it to take
// snapshots. Usage: node vm-monitor.mjs SOCKET COMMAND...; ends with 1 when QEMU reports an error or says nothing for two minutes.
import { connect } from 'node:net';

const PROMPT = '(qemu) ';
const [path, ...commands] = process.argv.slice(2);
const socket = connect(path);
socket.setTimeout(120_000, () => fail('no answer for two minutes'));
socket.on('error', (error) => fail(error.message));
socket.on('close', () => process.exit());

function fail(reason) {
  console.error(`vm-monitor: ${path}: ${reason}`);
  process.exit(1);
}

let said = '';
socket.on('data', (bytes) => {
  said += bytes.toString('latin1');
  if (!said.endsWith(PROMPT)) return;
  const complaint = /^Error.*$/m.exec(said)?.[0];
  if (complaint) fail(complaint.trim());
  said = '';
  const next = commands.shift();
  if (next === undefined) socket.end();
  else socket.write(`${next}\n`);
});
