// Clears a seat's progress line between two lives: the next one must not be blamed for what the last was doing, nor its frames be taken
// for the new one's. The last life is dead, or its line no longer counts.
import { type Control, OP } from '../memory/control.js';
import { PROGRESS_WORD } from '../memory/progress-line.js';

export function clearLine(control: Pick<Control, 'progressWords' | 'stampWords'>, line: number): void {
  const words = control.progressWords(line);
  words[PROGRESS_WORD.envId] = -1;
  words[PROGRESS_WORD.op] = OP.idle;
  words[PROGRESS_WORD.span] = 1;
  words[PROGRESS_WORD.framesLow] = 0;
  words[PROGRESS_WORD.framesHigh] = 0;
  control.stampWords(line).fill(0);
}
