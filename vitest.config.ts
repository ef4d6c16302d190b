import { defineConfig } from 'vitest/config'
import { LineReporter } from './scripts/vitest-line-reporter.ts'

export default defineConfig({
  test: {
    include: ['lib/**/*.test.{ts,tsx}', 'components/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts'],
    // Tests start real services and real shells: on two cores more workers only slow each other down.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    reporters: ['default', new LineReporter()],
  },
})
