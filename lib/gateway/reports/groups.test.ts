import { expect, it } from 'vitest'
import { namesOf } from '#lib/protocol/report-words.ts'
import type { JudgedAgent } from '#lib/statistics/figures.ts'
import { judge } from '#lib/statistics/testing.ts'
import { groupReport } from './groups.ts'

/** Scores by scenario; a missing one failed and is excluded. */
const agent = (agent_name: string, scores: Record<string, number>): JudgedAgent => ({
  agent_name,
  model_name: null,
  benchmark_run_id: `bmr_${agent_name}`,
  job_id: 'bmj_1',
  outcomes: Object.entries(scores).map(([scenario_id, score]) => ({
    scenario_id,
    scenario_name: scenario_id,
    state: 'COMPLETED',
    score,
  })),
})

const notesOf = async (agents: JudgedAgent[], metadata: Record<string, Record<string, string>>) => {
  const judged = { agents, complete: true }
  const source = { metadata: async () => metadata }
  const judgment = judge(judged)
  const { group_notes } = await groupReport(
    { source, jobs: [{ id: 'bmj_1' }], judged, rule: 'zero', name: namesOf(judgment.agents) },
    'level',
    judgment,
  )
  return group_notes
}

it('says when every group reverses the order of two agents', async () => {
  const easy = { level: 'easy' }
  const metadata = { e1: easy, e2: easy, e3: easy, h1: { level: 'hard' }, h2: { level: 'hard' }, h3: { level: 'hard' } }
  const agents = [
    agent('A', { e1: 0.8, e2: 0.8, e3: 0.8, h1: 0.2 }),
    agent('B', { e1: 0.9, h1: 0.3, h2: 0.3, h3: 0.3 }),
  ]
  expect((await notesOf(agents, metadata))[0]).toBe(
    'A has the higher mean overall (0.650 vs 0.450), but B has it in every group: they were scored on different scenarios.',
  )
  expect((await notesOf(agents, { ...metadata, h1: easy }))[0]).toContain('Holm')
})

it('says when the service reports no metadata', async () => {
  expect((await notesOf([agent('A', { s1: 1 })], {}))[0]).toBe('The service reports no metadata for these scenarios.')
})
