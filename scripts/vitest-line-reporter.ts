import type { Reporter, TestModule } from 'vitest/node'

/** Ends the output with a line per failed test and the total `N passed, N failed`. */
export class LineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly { message: string }[]) {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    const failed: string[] = []
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result()
        count[state]++
        const reason = errors?.[0]?.message.split('\n')[0]
        if (state === 'failed') failed.push(`failed: ${module.relativeModuleId} > ${test.fullName}: ${reason}`)
      }
      // When a hook fails, its tests are skipped and only the suite has the error.
      for (const each of [module, ...module.children.allSuites()]) {
        const [error] = each.errors()
        if (!error) continue
        count.failed++
        const name = each.type === 'suite' ? ` > ${each.fullName}` : ''
        failed.push(`failed: ${module.relativeModuleId}${name}: ${error.message.split('\n')[0]}`)
      }
    }
    for (const { message } of errors) failed.push(`failed: outside of tests: ${message.split('\n')[0]}`)
    const skipped = count.skipped + count.pending
    const line = `${count.passed} passed, ${count.failed + errors.length} failed${skipped ? `, ${skipped} skipped` : ''}`
    process.once('exit', () => console.log([...failed, line].join('\n')))
  }
}
