// Another process that has a transaction of its own open on an SQLite file, as a careless reader or a stuck writer would. It ends when it is
// told to, and with us: its stdin closes then.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

/** What the transaction does first: a lock that no writer gets past, or a look at all rows as they are now. */
const OPENINGS = {
  write: 'BEGIN IMMEDIATE',
  read: 'BEGIN; SELECT count(*) FROM events',
  /** Everything into the file: nothing of it is left in the WAL. No transaction. */
  settle: 'PRAGMA wal_checkpoint(TRUNCATE)',
} as const;

const SCRIPT = `
const [library, path, statements] = process.argv.slice(1);
const database = new (require(library))(path);
database.pragma('busy_timeout = 30000');
for (const one of statements.split('; ')) /^(SELECT|PRAGMA)/.test(one) ? database.prepare(one).all() : database.exec(one);
process.stdout.write('held');
process.stdin.resume().on('end', () => process.exit(0));
`;

export interface HeldDatabase {
  /** Resolves when the holder has ended, and with it its transaction. */
  release(): Promise<void>;
}

/** Resolves when the transaction is open. */
export async function holdDatabase(path: string, opening: keyof typeof OPENINGS): Promise<HeldDatabase> {
  const library = createRequire(import.meta.url).resolve('better-sqlite3');
  const child = spawn(process.execPath, ['-e', SCRIPT, library, path, OPENINGS[opening]], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  let words = '';
  child.stderr.on('data', (data: Buffer) => (words += data.toString()));
  const held = await Promise.race([new Promise<boolean>((done) => child.stdout.once('data', () => done(true))), ended.then(() => false)]);
  if (!held) throw new Error(`no transaction on ${path}: ${words.slice(-500)}`);
  return {
    release() {
      child.stdin.end();
      return ended;
    },
  };
}
