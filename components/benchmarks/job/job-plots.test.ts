import { expect, it } from 'vitest'
import { scenarioRows } from '../grid/scenario-grid.ts'
import { agentRows } from '../job-figures.ts'
import { groupPasses, scoreCounts, timedScores } from './job-plots.tsx'
import { jobOf } from './testing.ts'

const job = jobOf({
  a: { 'x-1': 0, 'x-2': 0.25, 'x-3': 0.26, y: [1, 0.5], z: 1 },
  b: { 'x-1': 'FAILED', 'x-2': 1, 'x-3': { score: 0.5, duration_ms: null }, y: 'CANCELED', z: 1 },
})
const rows = scenarioRows(job, agentRows(job))

it('counts scenario means per bin', () => {
  expect(scoreCounts(rows, 0, 'zero')).toEqual([1, 1, 1, 1, 0, 1])
  expect(scoreCounts(rows, 1, 'zero')).toEqual([1, 0, 1, 0, 0, 2])
  expect(scoreCounts(rows, 1, 'leave_out')).toEqual([0, 0, 1, 0, 0, 2])
})

it('pairs counted scores with durations', () => {
  expect(timedScores(rows, 1, 'zero')).toEqual([0, 1, 1].map((score) => ({ score, duration_ms: 1000 })))
})

it('counts passes by group, largest first', () => {
  expect(groupPasses(rows, 2, 'zero', ({ group }) => group)).toEqual([
    {
      name: 'x',
      agents: [
        { passes: 0, n: 3 },
        { passes: 1, n: 3 },
      ],
    },
    {
      name: 'other',
      agents: [
        { passes: 1, n: 2 },
        { passes: 1, n: 1 },
      ],
    },
  ])
})
