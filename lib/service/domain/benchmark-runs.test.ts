import { describe, expect, it } from 'vitest'
import type { ScenarioRunState } from '#lib/contract/scenario-runs.ts'
import { runScore } from './benchmark-runs.ts'

const run = (state: ScenarioRunState, score: number | null = null, replaced = false) => ({ state, score, replaced })

describe('the score of a benchmark run', () => {
  it('is the sum of the completed scores over the number of all scenario runs', () => {
    const five = [run('completed', 1), run('completed', 0.5), run('failed'), run('completed', 0), run('timeout')]
    expect(runScore(five)).toBe(0.3)
  })

  it('counts 0 for completed runs without a score and for scores of uncompleted runs', () => {
    expect(runScore([run('completed', 1), run('completed')])).toBe(0.5)
    expect(runScore([run('completed', 1), run('canceled', 1), run('failed', 0.75), run('timeout', 1)])).toBe(0.25)
  })

  it('does not count replaced runs', () => {
    expect(runScore([run('failed', null, true), run('completed', 0.5)])).toBe(0.5)
  })

  it('is not rounded', () => {
    expect(runScore([run('completed', 1), run('completed', 0), run('completed', 0)])).toBe(1 / 3)
    expect(runScore([run('completed', 0.1), run('completed', 0.2)])).toBe((0.1 + 0.2) / 2)
  })

  it('is null without scenario runs', () => {
    expect(runScore([])).toBeNull()
    expect(runScore([run('failed', null, true)])).toBeNull()
  })
})
