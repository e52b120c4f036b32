// What a plan and its environment say about Redis, judged before a run folder exists. A plan is printed and recorded, so a password is
// refused in it; no message made here holds one. Pure.
import { parseRedisUrl, redisUrl } from '../bus/state/redis-address.js';
import { EnvladderError } from '../contract/errors.js';
import type { Plan } from '../contract/plan.js';
import type { PlanProblem } from './plan-issues.js';

const URL_VARIABLE = 'ENVLADDER_REDIS_URL';

/** Why an address cannot be used; null: it can. */
function addressProblem(url: string): string | null {
  try {
    parseRedisUrl(url);
    return null;
  } catch (error) {
    if (!(error instanceof EnvladderError)) throw error;
    return error.message.replace(/^redis url: /, '');
  }
}

/** Throws `bad-plan` for an address in the environment that cannot be used; problems of the plan's own fields are returned. */
export function redisProblems({ redis, health }: Pick<Plan, 'redis' | 'health'>, environment: NodeJS.ProcessEnv): PlanProblem[] {
  const url = redisUrl(redis?.url, environment);
  if (url === undefined)
    return health.mode === 'account'
      ? [
          {
            path: ['health', 'mode'],
            message: `account decides by heartbeats in Redis: give the plan a redis part or set ${URL_VARIABLE}, or leave the mode at progress`,
          },
        ]
      : [];
  if (url !== redis?.url) {
    const problem = addressProblem(url);
    if (problem !== null) throw new EnvladderError('bad-plan', `${URL_VARIABLE}: ${problem}`);
  }
  if (redis === undefined) return [];
  const problem = addressProblem(redis.url);
  if (problem !== null) return [{ path: ['redis', 'url'], message: problem }];
  if (parseRedisUrl(redis.url).password === undefined) return [];
  const message = `a plan is printed and recorded, so it may hold no password: leave it out here and set ${URL_VARIABLE} to the whole address`;
  return [{ path: ['redis', 'url'], message }];
}
