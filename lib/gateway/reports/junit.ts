import { runNames, truncate } from '#lib/protocol/report-words.ts'
import type { CompareReport, GateRun } from '#lib/protocol/reports.ts'

/** A test suite with one test case per gated run. Runs that can't be decided are errors, not failures. */
export const gateJunit = (report: CompareReport): string => {
  const { gate, jobs, pairs } = report
  const runs = gate?.runs ?? []
  const name = runNames(report)
  const jobNames = new Map(jobs.map((job) => [job.id, truncate(job.name)]))
  const testcase = ({ a, passed, decided, reason }: GateRun): string => {
    const newFailures = pairs.find((pair) => pair.a.benchmark_run_id === a.benchmark_run_id)?.new_failures ?? []
    const kind = decided ? 'failure' : 'error'
    const verdict = passed ? '' : `<${kind} message="${xml(reason)}">${xml(reason)}</${kind}>`
    const listed = newFailures.map(({ scenario_name, before, after }) => `${scenario_name}: ${before} to ${after}`)
    const output =
      listed.length === 0 ? '' : `<system-out>${xml(`Newly failing scenarios:\n${listed.join('\n')}`)}</system-out>`
    const names = `classname="${xml(jobNames.get(a.job_id) ?? a.job_id)}" name="${xml(name(a))}"`
    return `    <testcase ${names}>${verdict}${output}</testcase>`
  }
  const failures = runs.filter((run) => run.decided && !run.passed).length
  const errors = runs.filter((run) => !run.decided).length
  const counts = `tests="${runs.length}" failures="${failures}" errors="${errors}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${xml(`gate ${gate?.kind}${gate?.margin == null ? '' : ` ${gate.margin}`}`)}" ${counts}>`,
    `    <properties><property name="result" value="${xml(gate?.sentence ?? '')}"/></properties>`,
    ...runs.map(testcase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text, without the characters that XML 1.0 forbids even when escaped. */
const xml = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"]/g, (sign) => entities[sign] ?? '')
