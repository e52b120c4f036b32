// The import rule of docs/ARCHITECTURE.md ("Folders"): imports point toward harness/contract and never sideways into a neighbour.
// Each line: folder -> folders it may import besides itself and the contract. Type-only imports count too.
const allowed = {
  'harness/contract': [],
  native: [],
  'harness/memory': ['native'],
  'harness/envs': [],
  'harness/bus': [],
  'harness/worker': ['harness/envs', 'harness/memory', 'harness/bus', 'native'],
  'harness/learner': ['harness/memory', 'harness/bus', 'native'],
  'harness/store': [],
  'harness/live': [],
  'harness/supervisor': ['harness/memory', 'harness/bus', 'harness/store', 'native'],
  reports: [],
  infra: [],
};

const rules = Object.entries(allowed).map(([folder, targets]) => ({
  name: `${folder.replace('/', '-')}-imports`,
  comment: `${folder} may import: ${['harness/contract', ...targets].join(', ')}`,
  severity: 'error',
  from: { path: `^${folder}/` },
  to: {
    path: '^(harness|native|reports|infra|test)/',
    pathNot: [folder, 'harness/contract', ...targets].map((target) => `^${target}/`),
  },
}));

module.exports = {
  forbidden: [
    ...rules,
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'contract-imports-zod-only',
      severity: 'error',
      from: { path: '^harness/contract/' },
      to: { pathNot: ['^harness/contract/', 'node_modules/zod/'] },
    },
    {
      name: 'only-ladder-bench-cli-compose',
      comment: 'ladder, bench, chaos and claims import all harness folders; cli imports ladder, bench, chaos, claims, live and reports; nobody imports cli',
      severity: 'error',
      from: { path: '^harness/(ladder|bench|chaos|claims)/' },
      to: { path: '^(reports|infra|harness/cli)/' },
    },
    {
      name: 'cli-imports',
      severity: 'error',
      from: { path: '^harness/cli/' },
      to: { path: '^(harness|native|infra)/', pathNot: '^harness/(cli|contract|ladder|bench|chaos|claims|live)/' },
    },
    { name: 'product-never-imports-tests', severity: 'error', from: { path: '^(harness|native|reports|infra)/' }, to: { path: '^test/' } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^(tsx/esm/api|@tensorflow/tfjs-node|@tensorflow/tfjs-node-gpu)$' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(native/build|dist)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
};
