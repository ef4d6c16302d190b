import { describe, expect, it } from 'vitest'
import { failureGroupsOf, normalizeMessage } from '#lib/protocol/failure-groups.ts'
import { scaleOf } from '#lib/statistics/tallies.ts'
import { scenarioRows } from '../grid/scenario-grid.ts'
import { agentRows, etaText } from '../job-figures.ts'
import { lossCauses, lostPoints } from './lost-points-table.tsx'
import { passCounts, suspiciousScenarios } from './suspicious-list.tsx'
import { jobOf } from './testing.ts'

describe('lostPoints', () => {
  const lostOf = (job: ReturnType<typeof jobOf>, at = 0) => lostPoints(scenarioRows(job, agentRows(job)), at)

  it('splits the loss by cause with equal weight per scenario', () => {
    const canceled = { one: [1, 0.5, 'CANCELED'], two: ['FAILED'], five: 'CANCELED' } as const
    const lost = lostOf(jobOf({ a: { ...canceled, three: ['TIMEOUT', 1, 1, 1], four: 0.5 } }))
    expect(lost?.score).toBeCloseTo((0.75 + 0 + 0.75 + 0.5) / 4, 12)
    expect(lost).toMatchObject({
      scenarios: 4,
      points: { wrong: 0.1875, exception: 0.25, timeout: 0.0625 },
      attempts: { wrong: 2, exception: 1, timeout: 1 },
      cancelled: 2,
    })
    expect(lostOf(jobOf({ a: { one: 'CANCELED' } }))).toBeNull()
  })

  it('sums to 1 with the score', () => {
    const lost = lostOf(jobOf({ a: { one: [0.3, 'FAILED', 'X' as 'FAILED'], two: [0.1, 'TIMEOUT'], three: 1 } }))
    const sum = lossCauses.reduce((total, cause) => total + (lost?.points[cause] ?? 0), lost?.score ?? 0)
    expect(sum).toBeCloseTo(1, 12)
  })

  it('has the score of the report to the last digit', () => {
    const scores = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`s${i}`, i < 77 ? [1, 1, 1] : [0, 0, 0]]))
    expect(lostOf(jobOf({ a: scores }))?.score).toBe(77 / 80)
  })

  it('reports the loss where the environment differs', () => {
    const differs = { environment_differs: true }
    const [zero, failed, one] = [{ score: 0 }, { state: 'FAILED' }, { score: 1 }].map((each) => ({
      ...each,
      ...differs,
    }))
    const lost = lostOf(jobOf({ a: { zero: zero ?? 0, failed: failed ?? 0, one: one ?? 0, four: 0 } }))
    expect(lost).toMatchObject({ points: { wrong: 0.5, exception: 0.25 }, differing: { points: 0.5, attempts: 2 } })
  })
})

describe('failure groups', () => {
  const agentsOf = (job: ReturnType<typeof jobOf>) =>
    agentRows(job).map(({ key, name, outcome }) => ({
      agent_name: name,
      benchmark_run_id: key,
      outcomes: (outcome?.scenario_outcomes ?? []).map((each) => ({
        ...each,
        scenario_id: each.scenario_definition_id,
      })),
    }))

  const failed = (exception_type: string, exception_message: string) => ({
    state: 'FAILED',
    score: null,
    failure_reason: { exception_type, exception_message },
  })

  const groupsOf = (job: ReturnType<typeof jobOf>) => failureGroupsOf(agentsOf(job), scaleOf(agentsOf(job)))

  it('merge messages that differ only in numbers, ids and paths', () => {
    const job = jobOf({
      a: {
        one: [failed('ReadError', 'line 12 of /tmp/a/one.txt'), failed('ReadError', 'line 3 of /tmp/b/two.txt')],
        two: failed('ReadError', 'no such file'),
      },
      b: { one: failed('ReadError', 'line 999 of /home/x/three.txt'), two: failed('TypeError', 'no such file') },
    })
    const shown = groupsOf(job).map(({ title, message, n_attempts, n_scenarios, agents, points }) => [
      `${title}: ${message}`,
      n_attempts,
      n_scenarios,
      agents.map(({ n_attempts }) => n_attempts),
      points,
    ])
    expect(shown).toHaveLength(3)
    expect(shown[0]).toEqual(['ReadError: line # of <path>', 3, 1, [2, 1], 1])
    expect(shown.slice(1)).toEqual(
      expect.arrayContaining([
        ['ReadError: no such file', 1, 1, [1], 0.5],
        ['TypeError: no such file', 1, 1, [1], 0.5],
      ]),
    )
    expect(groupsOf(job)[0]?.first).toEqual({ benchmark_run_id: 'bmr_1', scenario_id: 'scn_one', attempt: 1 })
  })

  it('lose the points of the table by cause, and with the mean add up to 1', () => {
    const results = { one: [0.3, 'FAILED', 'CANCELED'], two: [0, 'TIMEOUT', 1], three: 1, four: 'CANCELED' } as const
    const scored = { ...failed('AgentTimeoutError', 'after 3 s'), state: 'COMPLETED', score: 0.25 }
    const job = jobOf({
      a: results,
      b: { one: scored, two: failed('E', 'x'), three: { score: null } },
      nop: { one: 0 },
    })
    const groups = groupsOf(job)
    expect(groups.flatMap(({ agents }) => agents).map(({ benchmark_run_id }) => benchmark_run_id)).not.toContain(
      'bmr_3',
    )
    const rows = scenarioRows(job, agentRows(job))
    for (const at of [0, 1]) {
      const lost = lostPoints(rows, at)
      const pointsOf = (kind?: string) =>
        groups
          .filter((group) => kind === undefined || group.kind === kind)
          .flatMap(({ agents }) => agents.filter(({ benchmark_run_id }) => benchmark_run_id === `bmr_${at + 1}`))
          .reduce((sum, { points }) => sum + (points ?? 0), 0)
      for (const cause of lossCauses) expect(pointsOf(cause)).toBeCloseTo(lost?.points[cause] ?? 0, 12)
      expect(pointsOf() + (lost?.score ?? 0)).toBeCloseTo(1, 12)
    }
    expect(groups.map(({ title, n_attempts }) => [title, n_attempts])).toContainEqual(['Completed without a score', 1])
    expect(groups.find(({ title }) => title === 'AgentTimeoutError')?.kind).toBe('timeout')
  })

  it('have counts but no points for scores outside 0 to 1', () => {
    const job = jobOf({ a: { one: 7, two: 3, three: 'FAILED', four: 'CANCELED' } })
    const groups = (threshold?: number) =>
      failureGroupsOf(agentsOf(job), scaleOf(agentsOf(job), { threshold })).map(({ title, points }) => [title, points])
    expect(groups()).toEqual([['Failed without an exception', null]])
    expect(groups(5)).toContainEqual(['Scored below 5', null])
    const lower = scaleOf(agentsOf(job), { threshold: 5, direction: 'lower' })
    expect(failureGroupsOf(agentsOf(job), lower).map(({ title }) => title)).toContain('Scored above 5')
    const priced = {
      ...job,
      benchmark_outcomes: jobOf({ a: { one: 7, two: { state: 'COMPLETED', score: null } } }).benchmark_outcomes,
    }
    const titles = (metric: string | null) =>
      failureGroupsOf(agentsOf(priced), { is_unit_range: false, threshold: 8, lower_is_better: false, metric }).map(
        ({ title }) => title,
      )
    expect(titles(null)).toEqual(['Completed without a score', 'Scored below 8'])
    expect(titles('@cost_usd')).toEqual(['Cost in USD below 8'])
  })

  it.each([
    ['Agent execution timed out after 3.5 seconds', 'Agent execution timed out after # seconds'],
    [
      'No reward file found at /logs/verifier/reward.txt or /logs/verifier/reward.json',
      'No reward file found at <path> or <path>',
    ],
    ['devbox dbx_01J9ZK4T3 is gone', 'devbox <id> is gone'],
    ['request 1b4e28ba-2fa1-11d2-883f-0016d3cca427 failed', 'request <id> failed'],
    ['commit 9fceb02d0ae598e95dc970b74767f19372d61af8', 'commit <id>'],
    ['GET https://example.org:8080/a?b=1 gave 503', 'GET <url> gave #'],
    ['exit code\n  3', 'exit code #'],
    ['and/or, read_only, decode_message', 'and/or, read_only, decode_message'],
  ])('%j becomes %j', (message, expected) => expect(normalizeMessage(message)).toBe(expected))
})

describe('suspicious scenarios', () => {
  const namesOf = (job: ReturnType<typeof jobOf>) => {
    const agents = agentRows(job)
    const found = suspiciousScenarios(scenarioRows(job, agents), agents, job.job_spec)
    return Object.fromEntries(Object.entries(found).map(([kind, rows]) => [kind, rows.map(({ name }) => name)]))
  }

  it('include those that all fail or pass, and those near the limit', () => {
    const slow = { score: 1, duration_ms: 9_500 }
    const job = jobOf(
      {
        a: { hard: [0, 'FAILED'], easy: 1, unsure: [1, 0], slow, part: 0.5 },
        b: { hard: 0, easy: 1, unsure: 1, slow: 1, part: 0 },
      },
      {
        job_spec: {
          scenario_ids: [],
          agent_configs: [{ name: 'a', type: 'job_agent', timeout_seconds: 5 }],
          orchestrator_config: { timeout_multiplier: 2 },
        },
      },
    )
    expect(namesOf(job)).toEqual({
      nop_passes: [],
      oracle_fails: [],
      all_fail: ['hard'],
      flaky: [],
      at_timeout: ['slow'],
      all_pass: ['easy', 'slow'],
    })
  })

  it('include those that nop passes or oracle fails', () => {
    const job = jobOf({
      oracle: { one: 1, two: 0.5, three: 'FAILED' },
      nop: { one: 0, two: 1, three: 0 },
      a: { one: 1 },
    })
    expect(namesOf(job)).toMatchObject({
      nop_passes: ['two'],
      oracle_fails: ['three', 'two'],
      all_fail: [],
      all_pass: [],
    })
  })

  it('include flaky ones, most evenly split first', () => {
    const job = jobOf({
      oracle: { one: [1, 1, 'FAILED'], two: [1, 0], three: [1, 1], four: [0, 0] },
      a: { one: [1, 1, 0], two: [1, 1], three: [1, 0], four: 1 },
    })
    const agents = agentRows(job)
    const { flaky } = suspiciousScenarios(scenarioRows(job, agents), agents, job.job_spec)
    expect(flaky.map((row) => [row.name, passCounts(row)])).toEqual([
      ['two', '1 of 2 pass'],
      ['one', '4 of 6 pass'],
    ])
  })

  it('need two agents that completed something', () => {
    expect(namesOf(jobOf({ a: { s: 0, t: 1 } }))).toMatchObject({ all_fail: [], all_pass: [] })
    const refused = { s: 'FAILED', t: 'FAILED' } as const
    expect(namesOf(jobOf({ a: { s: 0, t: 1 }, refused }))).toMatchObject({ all_fail: [], all_pass: [] })
    expect(namesOf(jobOf({ a: { s: 0, t: 1 }, b: { s: 'FAILED', t: 0 } }))).toMatchObject({ all_fail: ['s'] })
  })
})

describe('etaText', () => {
  const running = (finished: number, total: number, part: object = {}) => {
    const durations = [40_000, 60_000, 50_000, 70_000].slice(0, finished)
    const outcomes = Object.fromEntries(durations.map((duration_ms, i) => [`s${i}`, { score: 1, duration_ms }]))
    return jobOf(
      { a: outcomes },
      {
        state: 'running',
        job_spec: {
          scenario_ids: Array.from({ length: total }, (_, i) => `scn_s${i}`),
          agent_configs: [{ name: 'a', type: 'job_agent' }],
          orchestrator_config: { n_concurrent_trials: 3 },
        },
        ...part,
      },
    )
  }
  const textOf = (job: ReturnType<typeof jobOf>) => etaText(job, agentRows(job))

  it('is a range', () => {
    expect(textOf(running(4, 11))).toBe(
      '2 min 8 s to 2 min 45 s left, if the remaining 7 take as long as the 4 finished, 3 at a time',
    )
  })

  it('excludes canceled trials and those of finished runs', () => {
    const job = running(4, 11)
    const [outcome] = job.benchmark_outcomes ?? []
    const cancelled = jobOf({
      a: {},
      b: { s0: { state: 'CANCELED', duration_ms: 1 }, s1: { duration_ms: null } },
    })
    const both = {
      ...job,
      job_spec: job.job_spec && {
        ...job.job_spec,
        agent_configs: ['a', 'b'].map((name) => ({ name, type: 'job_agent' })),
      },
      benchmark_outcomes: [...(outcome ? [outcome] : []), ...(cancelled.benchmark_outcomes ?? []).slice(1)],
      in_progress_runs: [{ benchmark_run_id: 'bmr_1', state: 'running', start_time_ms: 0 }],
    }
    expect(textOf(both)).toBe(
      '2 min 8 s to 2 min 45 s left, if the remaining 7 take as long as the 4 finished, 3 at a time; 9 of finished runs will never start',
    )
  })

  it('gives the reason if there is no estimate', () => {
    expect(textOf(running(0, 11))).toBe('No estimate until the first trial ends.')
    const untimed = jobOf(
      { a: { s0: { duration_ms: null }, s1: { duration_ms: null } } },
      { job_spec: running(2, 11).job_spec },
    )
    expect(textOf(untimed)).toBe('No estimate: trials do not report durations.')
    expect(textOf(running(4, 4))).toBe('The last trials are finishing.')
    expect(textOf(running(4, 11, { job_spec: null }))).toBe('The job does not report its number of trials.')
  })
})
