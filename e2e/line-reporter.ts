import type { Reporter, TestCase } from '@playwright/test/reporter'

/** Ends the output with the one line `N passed, N failed`. A test that needed a second try has failed. */
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
    for (const test of this.#tests) count[test.outcome()]++
    const skipped = count.skipped ? `, ${count.skipped} skipped` : ''
    console.log(`\n${count.expected} passed, ${count.unexpected + count.flaky} failed${skipped}`)
  }

  printsToStdio() {
    return true
  }
}
