import { defineConfig } from 'vitest/config'
import { SlowestFirst } from './scripts/slowest-first.ts'
import { LineReporter } from './scripts/vitest-line-reporter.ts'

const inFolders = (...folders: string[]) => folders.map((folder) => `${folder}/**/*.test.{ts,tsx}`)

export default defineConfig({
  test: {
    // Tests wait more than they compute, for shells, services and browsers: twice the workers of a two-core machine.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    // Only what fails takes this long: a state is waited for, and a machine may be many times slower than this one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    reporters: ['default', new LineReporter()],
    projects: [
      // One process per file: the more memory a process uses, the longer it takes to start a program.
      { extends: true, test: { name: 'service', include: inFolders('lib/service') } },
      // Here most of a file's time would go into loading what the file before has loaded.
      {
        extends: true,
        test: {
          name: 'console',
          include: inFolders('lib/!(service)', 'components', 'scripts'),
          isolate: false,
        },
      },
    ],
  },
})
