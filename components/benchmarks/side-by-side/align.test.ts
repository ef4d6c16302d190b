import { expect, it } from 'vitest'
import { readTrajectory, type TrajectoryStep } from '../logs/trajectory.ts'
import { alignSteps, divergenceText, maxAlignedSteps, stepLabel } from './align.ts'

/** `user: text` is a message; `$ command: text` a call with a message. */
const trajectory = (...lines: string[]): TrajectoryStep[] => {
  const steps = lines.map((line) => {
    const [head = '', message = ''] = line.split(': ')
    if (!head.startsWith('$ ')) return { source: head, message }
    return { source: 'agent', message, tool_calls: [{ function_name: 'bash', arguments: { command: head.slice(2) } }] }
  })
  return [...(readTrajectory(JSON.stringify({ steps }))?.steps ?? [])]
}

const aligned = (a: TrajectoryStep[], b: TrajectoryStep[]) =>
  alignSteps(a, b).rows.map(({ kind, a, b }) => `${kind} ${a ?? '-'} ${b ?? '-'}`)

it('finds the first different action behind equal and reworded steps', () => {
  const a = trajectory('user: fix it at 2026-11-01T10:00:00Z', '$ ls: I look', '$ cat a', '$ make', 'agent: done')
  const b = trajectory('user: fix it at 2026-11-02T11:30:00Z', '$ ls: Looking', '$ cat README', '$ make', 'agent: done')
  const alignment = alignSteps(a, b)
  expect(aligned(a, b)).toEqual(['same 0 0', 'reworded 1 1', 'changed 2 2', 'same 3 3', 'same 4 4'])
  expect(alignment.divergence).toBe(2)
  expect(divergenceText(alignment)).toBe('Same for 2 steps, 1 with another message; step 3 differs')
  expect([a[2], b[2]].map((step) => step && stepLabel(step))).toEqual(['cat a', 'cat README'])
})

it('aligns around steps that only one agent took', () => {
  const a = trajectory('user: go', '$ ls', '$ make', '$ make test')
  const b = trajectory('user: go', '$ ls', '$ pwd', '$ env', '$ make', 'agent: giving up')
  expect(aligned(a, b)).toEqual(['same 0 0', 'same 1 1', 'only_b - 2', 'only_b - 3', 'same 2 4', 'changed 3 5'])
  expect(aligned(b, a)).toEqual(['same 0 0', 'same 1 1', 'only_a 2 -', 'only_a 3 -', 'same 4 2', 'changed 5 3'])
})

it('recognizes a command by its text, not by its tool, and arguments in any order', () => {
  const step = (function_name: string, input: unknown) => ({
    source: 'agent',
    tool_calls: [{ function_name, arguments: input }],
  })
  const read = (...steps: object[]) => [...(readTrajectory(JSON.stringify({ steps }))?.steps ?? [])]
  const a = read(step('bash', { command: 'ls  -l' }), step('edit', { path: 'a', text: 'b' }))
  const b = read(step('shell', { cmd: 'ls -l' }), step('edit', { text: 'b', path: 'a' }))
  expect(aligned(a, b)).toEqual(['same 0 0', 'same 1 1'])
  expect(divergenceText(alignSteps(a, b))).toBe('Same for all 2 steps')
  expect(divergenceText(alignSteps(a, read(step('open', { path: 'a' }))))).toBe('Different from the first step')
})

it('aligns 2,000 different steps and cuts longer trajectories', () => {
  const steps = (prefix: string, count: number) =>
    trajectory(...Array.from({ length: count }, (_, at) => `$ ${prefix} ${at}`))
  const rows = alignSteps(steps('a', maxAlignedSteps), steps('b', maxAlignedSteps)).rows
  expect([rows.length, new Set(rows.map(({ kind }) => kind))]).toEqual([maxAlignedSteps, new Set(['changed'])])
  expect(alignSteps(steps('a', maxAlignedSteps + 1), steps('a', 3))).toMatchObject({ isCut: true, divergence: 3 })
  expect(alignSteps([], [])).toEqual({ rows: [], divergence: null, isCut: false })
})
