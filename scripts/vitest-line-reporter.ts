import type { Reporter, TestModule } from 'vitest/node'

/** Ends the output with the one line `N passed, N failed`, so that nobody has to search for the verdict. */
export class LineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++
      if (module.errors().length > 0) count.failed++
    }
    const skipped = count.skipped + count.pending
    const line = `${count.passed} passed, ${count.failed + errors.length} failed${skipped ? `, ${skipped} skipped` : ''}`
    process.once('exit', () => console.log(line))
  }
}
