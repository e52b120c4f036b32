// Opens a run folder and prints what came of it.
import type { EnvladderError } from '../../../harness/contract/errors.js';
import { openRunFolder } from '../../../harness/store/run-folder.js';

openRunFolder(process.argv[2] ?? '').then(
  () => console.log('opened'),
  (error: EnvladderError) => console.log(JSON.stringify({ code: error.code, message: error.message })),
);
