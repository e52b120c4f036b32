// Promise rules only: biome does the rest. A promise nobody waits for is how a process outlives its run.
import tseslint from 'typescript-eslint';

export default tseslint.config({
  files: ['harness/**/*.ts', 'native/**/*.ts', 'reports/**/*.ts', 'infra/**/*.ts', 'test/**/*.ts'],
  plugins: { '@typescript-eslint': tseslint.plugin },
  languageOptions: { parser: tseslint.parser, parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
  rules: {
    '@typescript-eslint/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [
          { from: 'package', name: ['test', 'it', 'describe', 'before', 'after', 'beforeEach', 'afterEach'], package: 'node:test' },
        ],
      },
    ],
    '@typescript-eslint/no-misused-promises': 'error',
    '@typescript-eslint/await-thenable': 'error',
    '@typescript-eslint/return-await': ['error', 'in-try-catch'],
  },
});
