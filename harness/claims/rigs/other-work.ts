// What else a machine does: processes that only burn CPU, at the ordinary nice value, for as long as somebody wants them. They end with us.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface OtherWork {
  end(): Promise<void>;
}

/** Between two bursts it looks whether its parent is still there: its stdin ends with it. */
const BURN = `
  console.log('up');
  process.stdin.on('end', () => process.exit(0)).resume();
  (function burn() { const until = Date.now() + 20; while (Date.now() < until); setImmediate(burn); })();
`;

/** Resolves when all of them burn. */
export async function startOtherWork(processes: number): Promise<OtherWork> {
  const children: ChildProcess[] = Array.from({ length: processes }, () =>
    // Sessions of their own, as other people's work is: the kernel shares cores by session first (autogroups), and workers have their own too.
    spawn(process.execPath, ['-e', BURN], { stdio: ['pipe', 'pipe', 'ignore'], detached: true }),
  );
  await Promise.all(children.map((child) => Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')])));
  return {
    async end() {
      await Promise.all(
        children.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const gone = once(child, 'exit');
          child.kill('SIGKILL');
          await gone;
        }),
      );
    },
  };
}
