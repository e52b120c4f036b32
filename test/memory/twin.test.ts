// The conformance suite over the in-memory twin.
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { conformance } from './conformance.js';
import { conformanceEdges } from './conformance-edges.js';
import { conformancePace } from './conformance-pace.js';
import { conformanceRecovery } from './conformance-recovery.js';

conformance('twin', () => createTwinMemory());
conformanceEdges('twin', () => createTwinMemory());
conformanceRecovery('twin', () => createTwinMemory());
conformancePace('twin', () => createTwinMemory());
