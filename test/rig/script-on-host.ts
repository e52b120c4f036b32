// Runs a script of the rig on a test machine as the program would, but without the program: uploaded as one file, secrets by stdin. For the
// cases that look at one concern from all sides.
import type { ConcernName } from '../../infra/concern-names.js';
import { shellParams, shellQuote } from '../../infra/quote.js';
import { bundleScript } from '../../infra/script-bundle.js';
import type { Machine } from './machine.js';

export interface ScriptAnswer {
  readonly code: number | null;
  readonly changed: boolean;
  readonly differs: readonly string[];
  readonly after: Readonly<Record<string, unknown>>;
  /** Everything it said, for messages of assertions. */
  readonly words: string;
}

export interface HostScript {
  run(action: 'check' | 'apply' | 'revert', params?: Readonly<Record<string, string>>): Promise<ScriptAnswer>;
  /** Starts an apply and kills it as soon as `when` (a shell condition) holds. Returns when its children are gone too. */
  killApply(when: string, params: Readonly<Record<string, string>>): Promise<void>;
}

const HEARD = '/tmp/rig-killed-apply';

/** A condition for killApply: the script has said so much. */
export const hasSaid = (words: string): string => `grep -qF ${shellQuote(words)} ${HEARD}`;

/** Uploads the script. `secrets` are lines for its stdin. */
export async function scriptOn(machine: Machine, concern: ConcernName, secrets = ''): Promise<HostScript> {
  const { text, remotePath } = bundleScript(concern);
  const folder = remotePath.replace(/\/[^/]*$/, '');
  await machine.sh(`mkdir -p ${folder} && base64 -d >${remotePath} <<'END'\n${Buffer.from(text).toString('base64')}\nEND`);
  const command = (action: string, params: Readonly<Record<string, string>>) =>
    `printf %s ${shellQuote(secrets.replaceAll('\n', '|'))} | tr '|' '\\n' | bash ${remotePath} ${action} ${shellParams(params)}`;
  return {
    run: async (action, params = {}) => {
      let { code, stdout, stderr } = await machine.trySh(command(action, params));
      // 255 without a word is ssh's: a machine under load did not answer the dial in time, and nothing was run.
      for (let dials = 1; code === 255 && stdout === '' && stderr === '' && dials < 5; dials += 1)
        ({ code, stdout, stderr } = await machine.trySh(command(action, params)));
      const words = `${concern} ${action}: ${code}\n${stdout}${stderr}`;
      const lines = stdout.trim().split('\n');
      if (lines.length !== 1 || lines[0] === '') throw new Error(`no single line on stdout: ${words}`);
      return { code, words, ...(JSON.parse(lines[0] as string) as Omit<ScriptAnswer, 'code' | 'words'>) };
    },
    killApply: async (when, params) => {
      // The text of this command holds the script's, so the pattern has to begin at the beginning.
      await machine.sh(`
        (${command('apply', params)}) >${HEARD} 2>&1 & apply=$!
        until ${when}; do kill -0 $apply || { cat ${HEARD} >&2; exit 1; }; sleep 0.5; done
        pkill -KILL -f '^bash ${remotePath} apply'
        wait
        flock -w 300 /run/lock/envladder-rig-${concern}.lock rm ${HEARD}`);
    },
  };
}
