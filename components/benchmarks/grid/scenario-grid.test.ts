import { describe, expect, it } from 'vitest'
import type { Exclusion } from '#lib/protocol/marks.ts'
import { judgedBy } from '#lib/protocol/metrics.ts'
import type { JobView } from '../job/search-params.ts'
import { suspiciousScenarios } from '../job/suspicious-list.tsx'
import { jobOf } from '../job/testing.ts'
import { agentRows } from '../job-figures.ts'
import { attemptMarks } from '../marks/attempt-marks.ts'
import { gridLines, groupingKeys, outcomePlace } from './grid-view.ts'
import { countedNote, gridScale, scenarioRows } from './scenario-grid.ts'

const rowsOf = (job: ReturnType<typeof jobOf>) => scenarioRows(job, agentRows(job))

describe('rows of the grid', () => {
  it('hold attempts and means by both rules', () => {
    const [row] = rowsOf(jobOf({ a: { s: [1, 'FAILED'] }, b: { s: [0.5, 0] } }))
    expect(row?.cells.map(({ score, state }) => ({ ...score, state }))).toEqual([
      { zero: 0.5, leave_out: 1, state: 'MIXED' },
      { zero: 0.25, leave_out: 0.25, state: 'COMPLETED' },
    ])
    expect(row?.spread).toEqual({ zero: 0.25, leave_out: 0.75 })
  })

  it('leave excluded attempts out of scores, and an excluded cell out of spread and mean', () => {
    const job = jobOf({ a: { s: [1, 0], t: 1 }, b: { s: 0.5, t: 0 } })
    const agents = agentRows(job)
    const exclude = (scenario_id: string, attempt_id: string | null): Exclusion => ({
      ...{
        id: attempt_id ?? scenario_id,
        job_id: job.id,
        scenario_name: '',
        reason: 'other',
        note: '',
        by: '',
        at_ms: 0,
      },
      ...{ scenario_id, attempt_id },
    })
    const exclusions = [exclude('scn_s', 'scr_1_s_2'), exclude('scn_t', 'scr_2_t_1')]
    const ofRows = (isApplied: boolean) =>
      scenarioRows(job, agents, {}, {}, attemptMarks(job, agents, { exclusions, labels: [], isApplied })).map(
        ({ cells, spread, mean }) => [cells.map((each) => each.score.zero), spread.zero, mean.zero],
      )
    expect(ofRows(true)).toEqual([
      [[1, 0.5], 0.5, 0.75],
      [[1, 0], null, 1],
    ])
    expect(ofRows(false)).toEqual([
      [[0.5, 0.5], 0, 0.5],
      [[1, 0], 1, 0.5],
    ])
  })

  it('follow the specification and include scenarios without outcomes', () => {
    const job = jobOf(
      { a: { late: 1, other: 1 } },
      { job_spec: { scenario_ids: ['scn_first', 'scn_late'], agent_configs: [] } },
    )
    expect(rowsOf(job).map(({ id, name, cells }) => [id, name, cells[0]?.state])).toEqual([
      ['scn_first', 'scn_first', null],
      ['scn_late', 'late', 'COMPLETED'],
      ['scn_other', 'other', 'COMPLETED'],
    ])
  })

  // The grid once used another denominator than the report.
  it('count a missing score like the report', () => {
    const [row] = rowsOf(jobOf({ a: { s: { score: null } }, b: { s: [{ score: null }, 1] } }))
    expect(row?.cells.map(({ score }) => [score.zero, score.leave_out])).toEqual([
      [0, null],
      [0.5, 1],
    ])
  })

  it('merge scenarios without id and name', () => {
    const unnamed = { scenario_definition_id: '', scenario_name: ' ', score: 1 }
    const job = jobOf(
      { a: { x: unnamed, y: { ...unnamed, score: 0 } } },
      { job_spec: { scenario_ids: [''], agent_configs: [] } },
    )
    const rows = rowsOf(job)
    expect(rows.map(({ id, name, cells }) => [id, name, cells[0]?.attempts.length])).toEqual([
      ['Unnamed scenario', 'Unnamed scenario', 2],
    ])
    expect(outcomePlace({ scenario: 'Unnamed scenario', run: 'bmr_1' }, rows, agentRows(job))?.attempt).toBe(1)
  })

  it('explain attempts that count differently from their score', () => {
    const note = (state: string, score: number | null) => countedNote({ state, score })
    expect(note('COMPLETED', 0)).toBe('')
    for (const state of ['COMPLETED', 'FAILED', 'TIMEOUT']) expect(note(state, null), state).toMatch(/counts as 0, or/)
    expect(note('FAILED', 0.5)).toMatch(/counts as 0, or/)
    const late = {
      state: 'COMPLETED',
      score: 0.5,
      failure_reason: { exception_type: 'AgentTimeoutError', exception_message: '' },
    }
    expect(countedNote(late)).toBe('; excluded with failures because it timed out')
    expect(note('CANCELED', 1)).toBe('; not counted because it was canceled')
    expect(note('SKIPPED', 0.7)).toBe('; not counted because its state is unknown')
  })

  it('are grouped by shared prefix', () => {
    const names = { 'django__django-1': 1, 'django__django-2': 1, 'org/one': 1, 'org/two': 1, alone: 1, 'a-b': 1 }
    const groups = rowsOf(jobOf({ a: names })).map(({ group }) => group)
    expect(groups.join(' ')).toBe('django django org org other other')
  })
})

describe('control agents', () => {
  const job = jobOf({
    a: { same: 1, differ: 1 },
    b: { same: 1, differ: 0.5 },
    oracle: { same: [1, 0], differ: 1 },
    nop: { same: 0, differ: 0 },
  })
  const names = (view: JobView) => gridLines(rowsOf(job), view).map(({ key }) => key)

  it('do not affect disagreement and means', () => {
    expect(names({})).toEqual(['scn_differ', 'scn_same'])
    expect(names({ only: 'disagreeing' })).toEqual(['scn_differ'])
    expect(rowsOf(job).map(({ spread, mean }) => [spread.zero, mean.zero])).toEqual([
      [0, 1],
      [0.5, 0.75],
    ])
  })
})

describe('scores outside 0 and 1', () => {
  const job = jobOf({ a: { s: [40, 50] }, b: { s: [-10, 50] } })
  const rowOf = (threshold?: number) => scenarioRows(job, agentRows(job), {}, { threshold })[0]

  it('pass only at a threshold', () => {
    expect(rowOf()?.cells.map(({ passes, repeats }) => [passes.zero, repeats])).toEqual([
      [null, { n: 2, passed: 0 }],
      [null, { n: 2, passed: 0 }],
    ])
    expect(rowOf(45)?.cells.map(({ passes, repeats }) => [passes.zero, repeats.passed])).toEqual([
      [true, 1],
      [false, 1],
    ])
    expect(rowOf(45)?.n_disagreeing).toBe(2)
  })

  it('pass at or below a threshold where lower is better', () => {
    const choice = { direction: 'lower', threshold: 45 } as const
    const [row] = scenarioRows(job, agentRows(job), {}, choice)
    expect(row?.cells.map(({ passes, repeats }) => [passes.zero, repeats.passed])).toEqual([
      [true, 1],
      [true, 1],
    ])
    // A failure has no score that could be a good one, and a cost is spent either way.
    const failing = jobOf({ a: { s: ['FAILED', 40] } })
    expect(scenarioRows(failing, agentRows(failing), {}, choice)[0]?.cells[0]?.score.zero).toBe(40)
    const [outcome] = failing.benchmark_outcomes ?? []
    for (const each of outcome?.scenario_outcomes ?? []) each.duration_ms = each.state === 'FAILED' ? 100 : 300
    const timed = judgedBy(failing, '@duration_ms')
    expect(scenarioRows(timed, agentRows(timed), {}, { metric: '@duration_ms' })[0]?.cells[0]?.score.zero).toBe(200)
  })

  it('are colored from lowest to highest', () => {
    expect(gridScale(agentRows(job), {})).toMatchObject({ low: -10, high: 50, threshold: null })
    expect(gridScale(agentRows(jobOf({ a: { s: 0.5 } })), {})).toMatchObject({ low: 0, high: 1, threshold: 1 })
  })

  it('make no scenario suspicious without a threshold', () => {
    const found = (threshold?: number) => {
      const of = jobOf({ a: { s: 40 }, b: { s: 50 }, nop: { s: 45 }, oracle: { s: 60 } })
      const agents = agentRows(of)
      const suspicious = suspiciousScenarios(scenarioRows(of, agents, {}, { threshold }), agents, null)
      return Object.entries(suspicious).flatMap(([kind, rows]) => (rows.length > 0 ? kind : []))
    }
    expect(found()).toEqual([])
    expect(found(40)).toEqual(['nop_passes', 'all_pass'])
    expect(found(70)).toEqual(['oracle_fails'])
  })
})

describe('known definitions', () => {
  const known = {
    scn_one: { name: 'one', metadata: { repo: 'django', level: 'easy' } },
    scn_two: { name: 'two', metadata: { repo: 'flask' } },
    scn_late: { name: 'late', metadata: { repo: 'django' } },
  }
  const job = jobOf(
    { a: { one: 1, two: 0, three: 1 } },
    { job_spec: { scenario_ids: ['scn_one', 'scn_two', 'scn_three', 'scn_late'], agent_configs: [] } },
  )
  const rows = scenarioRows(job, agentRows(job), known)

  it('name scenarios before their first outcome', () => {
    expect(rows.map(({ name }) => name)).toEqual(['one', 'two', 'three', 'late'])
  })

  it('offer keys that divide the scenarios', () => {
    expect(groupingKeys(rows)).toEqual(['level', 'repo'])
    const metadata = (number: number) => ({ id: `${number}`, set: 'all', kind: number < 2 ? 'few' : 'many' })
    expect(groupingKeys(rows.map((row, number) => ({ ...row, metadata: metadata(number) })))).toEqual(['kind'])
  })

  it('group by metadata, scenarios without it last', () => {
    const lines = gridLines(rows, { group: 'metadata.repo', sort: 'name' })
    expect(gridLines(rows, { group: 'repo', sort: 'name' })).toEqual(lines)
    const names = lines.map((line) => (line.kind === 'scenario' ? line.row.name : `[${line.name}]`))
    expect(names.join(' ')).toBe('[django] late one [flask] two [without repo] three')
  })
})

describe('an environment that differs', () => {
  const rows = rowsOf(
    jobOf({
      a: { one: { score: 1, environment_differs: true }, two: 0, three: 1 },
      b: { one: 1, two: [1, { score: 0, environment_differs: true }], three: 1 },
    }),
  )
  const names = (view: JobView) => gridLines(rows, view).map(({ key }) => key)

  it.each<[JobView, string[]]>([
    [{ environment: 'differs' }, ['scn_one', 'scn_two']],
    [{ environment: 'differs', score: 'pass' }, ['scn_one']],
    [{ environment: 'same' }, ['scn_three']],
  ])('%j', (view, expected) => expect(names({ sort: 'name', ...view }).toSorted()).toEqual(expected.toSorted()))
})

describe('gridLines', () => {
  const rows = rowsOf(
    jobOf({
      a: { 'x-1': 1, 'x-2': 1, 'y-1': 0, 'y-2': [1, 0], z: 'FAILED' },
      b: { 'x-1': 1, 'x-2': 0, 'y-1': 0.5, 'y-2': [1, 0], z: 'TIMEOUT' },
    }),
  )
  const names = (view: JobView) =>
    gridLines(rows, view).map((line) => (line.kind === 'scenario' ? line.row.name : `[${line.name}]`))

  it.each<[JobView, string[]]>([
    // Disagreement between agents, then between attempts, then hardest.
    [{}, ['x-2', 'y-1', 'y-2', 'z', 'x-1']],
    [{ sort: 'name' }, ['x-1', 'x-2', 'y-1', 'y-2', 'z']],
    [{ sort: 'hardest' }, ['z', 'y-1', 'x-2', 'y-2', 'x-1']],
    [{ sort: '-a1' }, ['x-1', 'y-1', 'y-2', 'x-2', 'z']],
    [{ sort: 'a0', failures: 'leave_out' }, ['y-1', 'y-2', 'x-1', 'x-2', 'z']],
    [{ only: 'disagreeing', sort: 'name' }, ['x-2', 'y-1', 'y-2']],
    [{ state: 'TIMEOUT' }, ['z']],
    [{ score: 'partial', sort: 'name' }, ['y-1', 'y-2']],
    [{ search: ' X-' }, ['x-2', 'x-1']],
    [{ group: 'prefix' }, ['[x]', 'x-2', 'x-1', '[y]', 'y-1', 'y-2', '[other]', 'z']],
    [{ state: 'CANCELED' }, []],
  ])('%j', (view, expected) => expect(names(view)).toEqual(expected))
})
