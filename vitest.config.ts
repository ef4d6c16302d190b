import { defineConfig } from 'vitest/config'
import { LineReporter } from './scripts/vitest-line-reporter.ts'

export default defineConfig({
  test: {
    include: ['lib/**/*.test.{ts,tsx}', 'components/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts'],
    // Tests wait more than they compute, for shells, services and browsers: twice the workers of a two-core machine.
    maxWorkers: 4,
    // Only what fails takes this long: a state is waited for, and a machine may be many times slower than this one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', new LineReporter()],
  },
})
