import { expect, it } from 'vitest'
import type { CompareReport, GateKind } from '#lib/protocol/reports.ts'
import type { AgentIdentity } from '#lib/statistics/figures.ts'
import { compare } from '#lib/statistics/testing.ts'
import { gateOf } from './gate.ts'
import { gateJunit } from './junit.ts'

const run = (job_id: string, scores: readonly number[], agent_name = 'A') => ({
  agent_name,
  model_name: null,
  benchmark_run_id: `${job_id} ${agent_name}`,
  job_id,
  outcomes: scores.map((score, i) => ({ scenario_id: `${i}`, scenario_name: `task-${i}`, state: 'COMPLETED', score })),
})

const baselineOf = ({ job_id, agent_name }: AgentIdentity) => (job_id === 'old' ? null : `old ${agent_name}`)

const judge = (
  kind: GateKind,
  margin: number | null,
  runs: readonly ReturnType<typeof run>[],
  unfinished: string[] = [],
  { direction, metric }: { direction?: 'lower'; metric?: string } = {},
) => {
  const jobs = ['old', 'new'].map((id) => ({ id, name: `the ${id} job` })) as unknown as CompareReport['jobs']
  const figures = { jobs, baseline: 'old', metric, ...compare({ agents: runs, complete: true, direction }, baselineOf) }
  const gate = gateOf({ kind, margin }, figures, unfinished)
  return { gate, report: { ...figures, gate } as unknown as CompareReport }
}
const verdict = (...given: Parameters<typeof judge>) => {
  const { passed, decided } = judge(...given).gate
  return decided ? passed : 'not decided'
}

// Ten differences with mean 0 and standard error 0.047140: the 95% CI is -0.106639 to 0.106639 (t with 9 df: 2.262157).
const spread = [run('old', [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])]
const equal = [...spread, run('new', [0.3, 0.7, 0.4, 0.6, 0.5, 0.5, 0.4, 0.6, 0.3, 0.7])]
const worse = [run('old', Array(8).fill(1)), run('new', [0, 0, 0, 0, 0, 0, 0, 1])]
const better = [run('old', worse[1]?.outcomes.map(({ score }) => score) ?? []), run('new', Array(8).fill(1))]

it('is non-inferior if the lower end of the 95% CI is above -margin', () => {
  expect(verdict('non_inferior', 0.11, equal)).toBe(true)
  expect(verdict('non_inferior', 0.1, equal)).toBe(false)
  const { gate } = judge('non_inferior', 0.11, equal)
  expect(gate.runs[0]?.bound).toBeCloseTo(-0.106639, 6)
  expect(gate.sentence).toMatch(
    /^Gate passed \(not worse than the baseline by 0\.11 or more\)\. A in the new job: .*the lower bound -0\.106639 is above -0\.11\.$/,
  )
})

it('is reversed where lower is better, and names the unit of cost and time', () => {
  const kinds = ['no_regression', 'superior'] as const
  const lower = (kind: GateKind, margin: number | null, runs: typeof worse) =>
    judge(kind, margin, runs, [], { direction: 'lower', metric: '@cost_usd' }).gate
  expect(kinds.map((kind) => lower(kind, null, worse).passed)).toEqual([true, true])
  expect(kinds.map((kind) => lower(kind, null, better).passed)).toEqual([false, false])
  // Costs 0.1 more on average with standard error 0.047140, so the upper bound is 0.206639.
  const dearer = [...spread, run('new', [0.4, 0.8, 0.5, 0.7, 0.6, 0.6, 0.5, 0.7, 0.4, 0.8])]
  const gate = lower('non_inferior', 0.2, dearer)
  expect([gate.passed, gate.decided, lower('non_inferior', 0.21, dearer).passed]).toEqual([false, true, true])
  expect(gate.runs[0]?.bound).toBeCloseTo(0.206639, 6)
  expect(gate.sentence).toMatch(
    /by 0\.2 USD or more\).*difference \$0\.1000 .*upper bound 0\.206639 USD is above 0\.2 USD\.$/,
  )
})

it('is non-inferior by any margin if every scenario has the same score, but undecided by one or an equal loss', () => {
  const same = [run('old', [1, 0, 1]), run('new', [1, 0, 1])]
  expect([verdict('non_inferior', 1e-9, same), verdict('superior', null, same)]).toEqual([true, false])
  expect(judge('non_inferior', 0.1, same).gate.sentence).toMatch(/the lower bound 0 is above -0\.1\.$/)
  expect(judge('non_inferior', 0.1, same, [], { direction: 'lower' }).gate.runs[0]).toMatchObject({
    passed: true,
    bound: 0,
  })
  expect(verdict('non_inferior', 0.1, [run('old', [1]), run('new', [1])])).toBe('not decided')
  expect(verdict('non_inferior', 0.2, [run('old', [1, 0.5, 0.2]), run('new', [0.9, 0.4, 0.1])])).toBe('not decided')
})

it('fails no_regression only for a significant loss, and superior unless every run gains significantly', () => {
  expect(['no_regression', 'superior'].map((kind) => verdict(kind as GateKind, null, worse))).toEqual([false, false])
  expect(['no_regression', 'superior'].map((kind) => verdict(kind as GateKind, null, equal))).toEqual([true, false])
  expect(['no_regression', 'superior'].map((kind) => verdict(kind as GateKind, null, better))).toEqual([true, true])
  const mixed = [...better, run('old', Array(8).fill(0.5), 'B'), run('new', Array(8).fill(0.5), 'B')]
  expect(verdict('superior', null, mixed)).toBe(false)
  expect(judge('superior', null, mixed).gate.runs.map(({ passed }) => passed)).toEqual([true, false])
})

it('is not decided without an end, a common scenario, an interval or a baseline run; controls are not gated', () => {
  expect(verdict('no_regression', null, equal, ["the new job hasn't ended"])).toBe('not decided')
  const same = [run('old', [1, 0, 1]), run('new', [1, 0, 1])]
  expect(verdict('no_regression', null, same)).toBe(true)
  expect(judge('no_regression', null, same).gate.sentence).toMatch(/fewer than 6 scenarios can't show a regression/)
  expect(verdict('no_regression', null, [...equal, run('new', [1], 'B')])).toBe('not decided')
  expect(verdict('no_regression', null, [...equal, run('old', [1], 'nop'), run('new', [0], 'nop')])).toBe(true)
  const apart = { ...run('new', [1]), outcomes: [{ ...run('new', [1]).outcomes[0], scenario_id: 'other' }] }
  expect(verdict('no_regression', null, [...spread, apart as ReturnType<typeof run>])).toBe('not decided')
})

it('escapes names in JUnit, drops control characters and lists newly failing scenarios', () => {
  const named = worse.map((each) => ({ ...each, agent_name: 'A<&"\u0000\u001b>' }))
  const renamed = named.map((each) => ({ ...each, benchmark_run_id: `${each.job_id} ${each.agent_name}` }))
  const xml = gateJunit(judge('no_regression', null, renamed).report)
  expect(xml).toContain('<testsuites tests="1" failures="1" errors="0">')
  expect(xml).toContain('classname="the new job" name="A&lt;&amp;&quot;&gt; in the new job"')
  expect(xml).toMatch(/<failure message="significantly worse; difference -0\.875 \(95% CI/)
  expect(xml).toMatch(/Newly failing scenarios:\ntask-0: 1 to 0\n/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML forbids them
  expect(xml).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/)
  expect(gateJunit(judge('superior', null, equal, ['a & b']).report)).toContain('<error message="a &amp; b">')
})
