import type { Reporter, TestCase } from '@playwright/test/reporter'

/** Prints each failed test and a final `N passed, N failed`. A test that needed a retry counts as failed. */
export default class LineReporter implements Reporter {
  #tests = new Set<TestCase>()
  #errors = 0

  onTestEnd(test: TestCase) {
    this.#tests.add(test)
  }

  onError() {
    this.#errors++
  }

  onEnd() {
    const count = { expected: 0, unexpected: this.#errors, flaky: 0, skipped: 0 }
    const failed: string[] = []
    for (const test of this.#tests) {
      const outcome = test.outcome()
      count[outcome]++
      if (outcome === 'unexpected' || outcome === 'flaky')
        failed.push(`failed: ${test.titlePath().slice(2).join(' > ')}`)
    }
    const skipped = count.skipped ? `, ${count.skipped} skipped` : ''
    const line = `${count.expected} passed, ${count.unexpected + count.flaky} failed${skipped}`
    console.log(['', ...failed, line].join('\n'))
  }

  printsToStdio() {
    return true
  }
}
