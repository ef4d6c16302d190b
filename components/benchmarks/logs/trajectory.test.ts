import { expect, it } from 'vitest'
import { readTrajectory } from './trajectory.ts'

const read = (steps: unknown[]) => readTrajectory(JSON.stringify({ agent: { name: 'a' }, steps }))

it('pairs calls with their observations', () => {
  const trajectory = read([
    { step_id: 1, source: 'user', message: 'Do it' },
    {
      source: 'agent',
      timestamp: '2026-01-02T03:04:05Z',
      model_name: 'm',
      message: [
        { type: 'text', text: 'I look' },
        { type: 'image', source: {} },
      ],
      reasoning_content: 'first look',
      tool_calls: [{ tool_call_id: 'c1', function_name: 'bash', arguments: { command: 'ls' } }],
      observation: { results: [{ source_call_id: 'c1', content: 'a b' }, { content: 'and more' }] },
      metrics: { prompt_tokens: 5, completion_tokens: 2, cost_usd: 0.1 },
    },
  ])
  expect(trajectory?.agent).toEqual({ name: 'a', version: null })
  expect(trajectory?.steps[1]).toEqual({
    source: 'agent',
    message: 'I look\n(image, not shown)',
    reasoning_content: 'first look',
    calls: [{ name: 'bash', input: '{\n  "command": "ls"\n}', results: ['a b'] }],
    observations: ['and more'],
    model_name: 'm',
    timestamp: Date.UTC(2026, 0, 2, 3, 4, 5),
    metrics: { prompt_tokens: 5, completion_tokens: 2, cost_usd: 0.1 },
  })
})

it('accepts malformed parts', () => {
  const hostile = [null, 7, 'x', [], { message: { deep: [1] } }, { tool_calls: 'no', observation: [{}] }, { source: 1 }]
  const more = { tool_calls: [null, { arguments: 3 }], observation: { results: [null, { source_call_id: 5 }] } }
  const trajectory = read([...hostile, more, { message: 'y'.repeat(200_000), timestamp: 'soon' }])
  expect(trajectory?.steps).toHaveLength(9)
  expect(trajectory?.steps[4]?.message).toContain('"deep"')
  expect(trajectory?.steps[7]?.calls.map(({ name }) => name)).toEqual(['unnamed tool', 'unnamed tool'])
  expect(trajectory?.steps[8]?.message).toMatch(/y\n… 100000 more characters$/)
  expect(trajectory?.steps[8]?.timestamp).toBeNull()
  for (const none of ['', '{', '[]', '{"steps": {}}', 'null']) expect(readTrajectory(none)).toBeUndefined()
})
