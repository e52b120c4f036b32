// The conformance suite over shared memory, in one process.
import { createNativeMemory } from '../../harness/memory/native-memory.js';
import { conformance } from './conformance.js';
import { conformanceEdges } from './conformance-edges.js';
import { conformancePace } from './conformance-pace.js';
import { conformanceRecovery } from './conformance-recovery.js';

conformance('native', () => createNativeMemory());
conformanceEdges('native', () => createNativeMemory());
conformanceRecovery('native', () => createNativeMemory());
conformancePace('native', () => createNativeMemory());
