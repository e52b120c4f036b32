// The conformance suite over the in-memory twin.
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { conformance } from './conformance.js';
import { conformanceEdges } from './conformance-edges.js';

conformance('twin', () => createTwinMemory());
conformanceEdges('twin', () => createTwinMemory());
