// The training process as a claim sees it: one run at a time, killed when the claim is over or interrupted.
import { once } from 'node:events';
import { EnvladderError } from '../../contract/errors.js';
import { forkClaimProcess } from '../entry-url.js';
import type { Learned, LearnRequest } from './learn-mix.js';

export interface LearnProcess {
  /** Null when `signal` aborts first: the process is then of no more use. Rejects when the run fails or the process dies. */
  learn(request: LearnRequest, signal: AbortSignal): Promise<Learned | null>;
  /** Resolves when the process is gone. */
  stop(): Promise<void>;
}

/** Starts it; the backend loads while the first request is on its way. */
export function startLearnProcess(): LearnProcess {
  const child = forkClaimProcess('learn-child', [], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const exited = once(child, 'exit');
  let said = '';
  child.stderr?.on('data', (data: Buffer) => {
    said = (said + data.toString()).slice(-2000);
  });
  return {
    learn(request, signal) {
      return new Promise<Learned | null>((resolve, reject) => {
        const done = (settle: () => void): void => {
          child.off('message', onMessage);
          child.off('exit', onExit);
          signal.removeEventListener('abort', onAbort);
          settle();
        };
        const fail = (why: string): void => done(() => reject(new EnvladderError('contract', `the training process of a claim ${why}`)));
        const onMessage = (message: { learned?: Learned; error?: string }): void => {
          const { learned, error } = message;
          if (learned === undefined) fail(`failed: ${error ?? 'no result'}`);
          else done(() => resolve(learned));
        };
        const onExit = (): void => fail(`ended before its run did: ${said}`);
        const onAbort = (): void => done(() => resolve(null));
        child.on('message', onMessage);
        child.once('exit', onExit);
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
        else child.send(request);
      });
    },
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
