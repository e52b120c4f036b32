// Is the rig as the stack says? Runs the `check` of every concern over SSH and sets it beside the desired state: that of the last `pulumi up` (the
// stack's output) and that of the config as it is now. Command resources have no read, so `pulumi refresh` cannot see this. Changes nothing.
import type { RigOutput } from '../harness/contract/rig-output.js';
import { CONCERNS, type ConcernName } from './concern-names.js';
import type { RigSettings } from './config.js';
import { configHash, type DesiredConcern } from './desired.js';
import { runHostScript, type ScriptCall, type ScriptRun } from './host-script.js';
import type { SshSession } from './ssh-session.js';

/** ok: as wanted. drift: the check names what differs. failed: the check could not say. */
export type ConcernStatus = 'ok' | 'drift' | 'failed';

export interface ConcernReport {
  readonly concern: string;
  readonly status: ConcernStatus;
  /** Of the script; null when the connection was lost. */
  readonly exit_code: number | null;
  readonly differs: readonly string[];
  /** What the script found on the host. */
  readonly found: Readonly<Record<string, string | number | boolean>>;
  /** Its last words for people, when not ok. */
  readonly words: readonly string[];
}

/** Names in it are relied upon; `schema` rises when one changes. */
export interface DoctorReport {
  readonly schema: 1;
  readonly status: 'ok' | 'drift' | 'unreachable';
  readonly host: { readonly id: string; readonly address: string; readonly port: number; readonly user: string };
  readonly config: {
    /** Of the last `pulumi up`. */
    readonly stack_hash: string;
    /** Of the config as it is now. */
    readonly config_hash: string;
    /** Concerns that the next `pulumi up` would tell something else. */
    readonly pending: readonly string[];
  };
  readonly concerns: readonly ConcernReport[];
  readonly problem: string | null;
}

export const DOCTOR_EXIT = { ok: 0, drift: 1, unreachable: 2 } as const;

const MAX_WORDS = 8;

/** Concerns whose parameters differ between the last up and now, added and removed ones too. Pure. */
export function pendingConcerns(applied: RigOutput['concerns'], wanted: readonly DesiredConcern[]): string[] {
  const text = (params: Readonly<Record<string, string>> | undefined): string =>
    params === undefined ? '' : JSON.stringify(Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1)));
  return CONCERNS.filter(
    (name) =>
      text(applied.find(({ concern }) => concern === name)?.params) !== text(wanted.find(({ concern }) => concern === name)?.params),
  );
}

/** One concern's line from what its check did. Pure. */
export function judgeCheck(concern: string, { code, answer, words }: ScriptRun): ConcernReport {
  const status: ConcernStatus = code === 0 && answer !== null ? 'ok' : code === 1 && answer !== null ? 'drift' : 'failed';
  return {
    concern,
    status,
    exit_code: code,
    differs: answer?.differs ?? [],
    found: answer?.after ?? {},
    words:
      status === 'ok'
        ? []
        : words
            .trim()
            .split('\n')
            .filter((line) => line !== '')
            .slice(-MAX_WORDS),
  };
}

export interface DoctorInput {
  readonly output: RigOutput;
  readonly settings: RigSettings;
  /** Of the config as it is now. */
  readonly desired: readonly DesiredConcern[];
  readonly session: SshSession;
  readonly onReport?: (report: ConcernReport) => void;
  /** What tests replace. */
  readonly runScript?: (session: SshSession, user: string, call: ScriptCall) => Promise<ScriptRun>;
}

function headOf({ output, desired }: Pick<DoctorInput, 'output' | 'desired'>): Pick<DoctorReport, 'schema' | 'host' | 'config'> {
  const { id, address, port, user } = output.host;
  return {
    schema: 1,
    host: { id, address, port, user },
    config: { stack_hash: output.configHash, config_hash: configHash(desired), pending: pendingConcerns(output.concerns, desired) },
  };
}

/** The report when no connection came about. */
export function unreachableReport(input: Pick<DoctorInput, 'output' | 'desired'>, problem: string): DoctorReport {
  return { ...headOf(input), status: 'unreachable', concerns: [], problem };
}

/** Checks concern after concern: one connection, one session at a time. A connection that is lost on the way makes the report `unreachable`. */
export async function examineRig(input: DoctorInput): Promise<DoctorReport> {
  const { output, settings, session, onReport, runScript = runHostScript } = input;
  const concerns: ConcernReport[] = [];
  for (const { concern, params, secrets } of output.concerns) {
    const values = Object.fromEntries(
      Object.entries(secrets).flatMap(([name, key]) => {
        const value = settings.secrets[key as keyof RigSettings['secrets']];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const call: ScriptCall = { concern: concern as ConcernName, action: 'check', params, secrets: values };
    const report = judgeCheck(concern, await runScript(session, output.host.user, call));
    concerns.push(report);
    onReport?.(report);
    if (report.exit_code === null)
      return { ...headOf(input), status: 'unreachable', concerns, problem: `the connection was lost during ${concern}` };
  }
  const head = headOf(input);
  const drifts = concerns.some(({ status }) => status !== 'ok') || head.config.pending.length > 0;
  return { ...head, status: drifts ? 'drift' : 'ok', concerns, problem: null };
}
