// The kinds that come with envladder, in the order `envladder env list` prints them.
import type { EnvKind } from '../contract/env.js';
import { acrobot } from './kinds/acrobot.js';
import { cartpole } from './kinds/cartpole.js';
import { field } from './kinds/field.js';
import { mountainCar } from './kinds/mountain-car.js';
import { mountainCarContinuous } from './kinds/mountain-car-continuous.js';
import { noop } from './kinds/noop.js';
import { pendulum } from './kinds/pendulum.js';
import { probe } from './kinds/probe.js';

// biome-ignore lint/suspicious/noExplicitAny: kinds of every config type live in one table
export const BUILT_IN_KINDS: readonly EnvKind<any>[] = [
  cartpole,
  mountainCar,
  mountainCarContinuous,
  acrobot,
  pendulum,
  field,
  noop,
  probe,
];
