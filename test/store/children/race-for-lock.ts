// Races for the lock of folders 0..rounds-1 under the given root, starting each when its `go` file appears; prints the rounds it won.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLock, takeLock } from '../../../harness/store/folder-lock.js';

const [root = '', rounds = '0', id = ''] = process.argv.slice(2);
const won: number[] = [];
for (let round = 0; round < Number(rounds); round++) {
  const dir = join(root, String(round));
  mkdirSync(join(root, `ready-${round}-${id}`));
  while (!existsSync(join(root, `go-${round}`)));
  // The lock is kept to the end, so that a later comer must find its owner alive.
  if (isLock(takeLock(dir))) won.push(round);
}
console.log(JSON.stringify(won));
// Alive until every racer is done: a racer that ends would make its locks those of a dead process.
process.stdin.on('data', () => process.exit(0));
