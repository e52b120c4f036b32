// What a person or tool may ask of a running crew, one function per command. Every command is answered, a refusal with its reason; those
// that change something leave an event. Bounded: a worker that does not answer within ANSWER_MS is answered for.
import type { CtlAnswer, CtlCommand } from '../contract/ctl.js';
import { specOf } from './block-plan.js';
import type { CrewEvent, CrewHealth } from './crew.js';
import type { EnvEvents } from './env-events.js';
import type { LearnerPost } from './learner-post.js';
import type { WorkerPost } from './post.js';
import type { EnvChanged } from './worker-news.js';

/** A worker hears commands once its step is done. */
const ANSWER_MS = 10_000;

type Reply = Omit<CtlAnswer, 'id'>;

export interface CommandPorts {
  readonly posts: readonly WorkerPost[];
  readonly learner: LearnerPost;
  readonly writesCheckpoints: boolean;
  readonly envEvents: EnvEvents;
  readonly health: () => CrewHealth;
  readonly emit: (event: CrewEvent) => void;
  /** The run is over or ending: why, else null. */
  readonly over: () => string | null;
  /** Settles when the crew is being stopped: who waits for an answer then waits no longer. */
  readonly ended: Promise<unknown>;
}

const no = (message: string): Reply => ({ ok: false, message });

function within<Answer>(promise: Promise<Answer>, otherwise: Answer, ended: Promise<unknown>): Promise<Answer> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(otherwise), ANSWER_MS);
    const settle = (answer: Answer): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    promise.then(settle, () => settle(otherwise));
    void ended.then(() => settle(otherwise));
  });
}

export function createCrewCommands(ports: CommandPorts): (command: CtlCommand) => Promise<CtlAnswer> {
  const { posts, learner, envEvents, health, emit } = ports;
  const waiting = new Map<number, (now: EnvChanged['now']) => void>();
  for (const post of posts) post.onReply(({ envId, now }) => waiting.get(envId)?.(now));

  const postOf = (envId: number): WorkerPost | undefined =>
    posts.find(({ planned, blocks }) =>
      blocks.some((block) => {
        const { firstEnvId, slots } = specOf(planned, block);
        return envId >= firstEnvId && envId < firstEnvId + slots;
      }),
    );

  /** Tells the env's worker and waits for its word; null: there is no process to hear it now. */
  async function tellEnv(
    post: WorkerPost,
    envId: number,
    message: Parameters<WorkerPost['tell']>[0],
  ): Promise<EnvChanged['now'] | 'silent' | null> {
    const answer = new Promise<EnvChanged['now'] | 'silent'>((resolve) => waiting.set(envId, resolve));
    if (!post.tell(message)) {
      waiting.delete(envId);
      return null;
    }
    const now = await within(answer, 'silent' as const, ports.ended);
    waiting.delete(envId);
    return now;
  }

  async function changeEnv(envId: number, wanted: 'quarantine' | 'release'): Promise<Reply> {
    const post = postOf(envId);
    if (post === undefined) return no(`no env ${envId} has been started in this run`);
    if (post.state === 'lost' || post.state === 'stopped') return no(`env ${envId}: worker ${post.worker} is ${post.state}`);
    if (waiting.has(envId)) return no(`env ${envId} is being changed already`);
    if (wanted === 'quarantine') post.ledger.quarantine(envId, false);
    else {
      post.ledger.release(envId);
      learner.send({ type: 'release', envId });
    }
    const said = { quarantine: 'out of the run', release: 'released' }[wanted];
    const now = await tellEnv(
      post,
      envId,
      wanted === 'quarantine' ? { type: wanted, envId, reason: 'a command asked for it' } : { type: wanted, envId },
    );
    if (now === 'unknown-env') return no(`env ${envId} is not known to worker ${post.worker}`);
    if (now === 'silent') {
      if (ports.over() !== null) return no(`env ${envId}: the run ended before worker ${post.worker} answered`);
      return no(`env ${envId}: worker ${post.worker} does not answer within ${ANSWER_MS / 1000} s; its next life will obey`);
    }
    if (now === 'not-out')
      return { ok: true, message: `env ${envId} is in the run: there is nothing to release`, detail: { envId, worker: post.worker } };
    if (now === 'quarantined') post.ledger.quarantine(envId, true);
    envEvents.changed(post.worker, wanted === 'release' ? 'env-released' : 'env-quarantined', [envId]);
    return {
      ok: true,
      message:
        now === null
          ? `env ${envId} is ${said} with the next life of worker ${post.worker}, which is ${post.state}`
          : `env ${envId} is ${said}`,
      detail: { envId, worker: post.worker },
    };
  }

  function status(): Reply {
    const { workers, learner: one, suspended, deadlinesMissed } = health();
    const up = workers.filter(({ verdict }) => verdict === 'ok' || verdict === 'waiting').length;
    return {
      ok: true,
      message: `${up} of ${workers.length} workers are well, the learner is ${one.pid === null ? 'away' : 'there'}${suspended === null ? '' : `; nothing is killed: ${suspended}`}`,
      detail: { workers, learner: one, suspended, deadlinesMissed },
    };
  }

  async function checkpoint(): Promise<Reply> {
    if (!ports.writesCheckpoints) return no('this run writes no checkpoints');
    const path = await within<string | null>(learner.checkpoint('command'), null, ports.ended);
    if (path === null && ports.over() !== null) return no('the run ended before a checkpoint was written');
    return path === null
      ? no(`no checkpoint was written within ${ANSWER_MS / 1000} s; it may still come`)
      : { ok: true, message: `checkpoint ${path}`, detail: { path } };
  }

  async function obey(command: CtlCommand): Promise<Reply> {
    const over = ports.over();
    if (over !== null && command.command !== 'status') return no(over);
    switch (command.command) {
      case 'status':
        return status();
      case 'replace-worker': {
        const post = posts[command.worker];
        return post === undefined ? no(`there is no worker ${command.worker}; the run has ${posts.length}, from 0`) : post.replace();
      }
      case 'quarantine':
      case 'release':
        return changeEnv(command.envId, command.command);
      case 'checkpoint':
        return checkpoint();
    }
  }

  return async (command) => {
    const { id, ...asked } = command;
    let reply: Reply;
    try {
      reply = await obey(command);
    } catch (error) {
      reply = no(`${asked.command} failed: ${(error as Error).message}`);
    }
    if (asked.command !== 'status')
      emit({ type: 'command', message: `${asked.command}: ${reply.message}`, detail: { ...asked, ok: reply.ok } });
    return { id, ...reply };
  };
}
