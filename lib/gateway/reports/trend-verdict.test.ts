import { expect, it } from 'vitest'
import { stepOf } from '#lib/protocol/report-words.ts'
import type { TrendPoint, TrendReport } from '#lib/protocol/reports.ts'
import type { JudgedAgent } from '#lib/statistics/figures.ts'
import { compare } from '#lib/statistics/testing.ts'
import { regressionOf } from './trend-points.ts'
import { trendVerdict } from './trend-report.ts'

/** One run for each list of scores; null is a canceled attempt. */
const reportOf = (...runs: (number | null)[][]): Pick<TrendReport, 'agent_name' | 'model_name' | 'points'> => {
  const agents = runs.map(
    (scores, at): JudgedAgent => ({
      agent_name: 'solver',
      model_name: 'm1',
      benchmark_run_id: `bmr_${at}`,
      job_id: `bmj_${at}`,
      outcomes: scores.map((score, i) => ({
        scenario_id: `s${i}`,
        scenario_name: `s${i}`,
        state: score === null ? 'CANCELED' : 'COMPLETED',
        score,
      })),
    }),
  )
  const comparison = compare({ agents, complete: true }, ({ benchmark_run_id, mean }) => {
    const at = agents.findIndex((each) => each.benchmark_run_id === benchmark_run_id)
    return mean === null ? null : (agents[at - 1]?.benchmark_run_id ?? null)
  })
  const points = comparison.agents.map((figures, at) => {
    const change = comparison.pairs.find(({ a }) => a.benchmark_run_id === figures.benchmark_run_id) ?? null
    const job = { id: `bmj_${at}`, name: `job ${at}` } as TrendPoint['job']
    return { job, complete: true, figures, change, regression: regressionOf(change), incomparable: [] }
  })
  return { agent_name: 'solver', model_name: 'm1', points }
}

const eight = (score: number) => Array.from({ length: 8 }, () => score)

it('reports the latest score and its change', () => {
  expect(trendVerdict(reportOf([1, 0, 1]))).toEqual({
    lead: 'solver · m1 scores 0.667 (n = 3) in job 0; there is no earlier job to compare with.',
    more: [],
    tone: 'neutral',
  })
  expect(trendVerdict(reportOf([1, 0, 1], [1, 0, 0.5]))).toEqual({
    // Differences 0, 0, -0.5: mean -1/6, SE 1/6, t with 2 degrees of freedom 4.302653.
    lead: 'solver · m1 scores 0.500 (n = 3) in job 1, 0.167 below the previous job (95% CI -0.884 to 0.550, 3 paired scenarios). Not significant, p = 1.000; about 39 scenarios needed.',
    more: ['No regression in 1 change.'],
    tone: 'neutral',
  })
})

it('calls a regression possible only if it exceeds the standard error', () => {
  // Two of eight lower: mean -1/4, SE 0.163663. One of eight: both 1/8.
  const fallen = (count: number) => reportOf(eight(1), [...eight(1).slice(count), ...eight(0).slice(8 - count)])
  expect(fallen(2).points.map(stepOf)).toEqual(['first', 'possible'])
  expect(trendVerdict(fallen(2))).toMatchObject({
    more: ['1 change: 0 significant regressions, 1 possible.'],
    tone: 'attention',
  })
  expect(fallen(1).points.map(stepOf)).toEqual(['first', 'worse'])
  expect(reportOf([1], [0]).points.map(stepOf)).toEqual(['first', 'worse'])
})

it('distinguishes significant from possible regressions', () => {
  const report = reportOf(eight(0.5), eight(1), eight(0), [...eight(0).slice(1), 0.5], [...eight(0).slice(1), 0.5])
  expect(report.points.map(stepOf)).toEqual(['first', 'better', 'regression', 'slightly_better', 'same'])
  expect(trendVerdict(report).more).toEqual(['4 changes: 1 significant regression, 0 possible.'])
  expect(trendVerdict(reportOf(eight(1), eight(0))).tone).toBe('danger')
  expect(trendVerdict(reportOf(eight(0), eight(1)))).toMatchObject({ tone: 'ok', more: ['No regression in 1 change.'] })
})

it('reports a missing score', () => {
  expect(trendVerdict(reportOf()).lead).toBe('solver · m1 has no score on this dataset yet.')
  expect(reportOf([1], [null]).points.map(stepOf)).toEqual(['first', 'none'])
})

it('reports later runs without a score and jobs where nothing completed', () => {
  const report = reportOf([0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1], [null, null])
  expect(trendVerdict(report)).toMatchObject({
    more: [
      '1 later run has no score, most recently in job 2: no scenario has a counted attempt.',
      'No regression in 1 change.',
    ],
    tone: 'neutral',
  })
  const [first, ...rest] = report.points as [TrendPoint, ...TrendPoint[]]
  const broken = { ...first, figures: { ...first.figures, n_completed: 0, n_failed: 7 } }
  expect(trendVerdict({ ...report, points: [broken, ...rest] }).more.at(-1)).toMatch(
    /^No attempt completed: job 0 \(7 failed\)\./,
  )
})
