import { expect, it } from 'vitest'
import { readTrajectory } from './trajectory.ts'

it('pairs calls with their observations', () => {
  const read = readTrajectory(
    JSON.stringify({
      schema_version: 'ATIF-v1.5',
      agent: { name: 'a', version: '2' },
      steps: [
        { step_id: 1, source: 'user', message: 'Do it' },
        {
          step_id: 2,
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
      ],
    }),
  )
  expect(read).toMatchObject({ version: 'ATIF-v1.5', agent: 'a 2' })
  expect(read?.steps[1]).toEqual({
    number: 2,
    source: 'agent',
    message: 'I look\n(image, not shown)',
    reasoning: 'first look',
    calls: [{ name: 'bash', input: '{\n  "command": "ls"\n}', results: ['a b'] }],
    observations: ['and more'],
    model: 'm',
    timestampMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    tokens: { input: 5, output: 2, costUsd: 0.1 },
  })
})

it('accepts malformed parts', () => {
  const hostile = [null, 7, 'x', [], { message: { deep: [1] } }, { tool_calls: 'no', observation: [{}] }, { source: 1 }]
  const more = { tool_calls: [null, { arguments: 3 }], observation: { results: [null, { source_call_id: 5 }] } }
  const read = readTrajectory(
    JSON.stringify({ agent: 'x', steps: [...hostile, more, { message: 'y'.repeat(200_000) }] }),
  )
  expect(read?.agent).toBeNull()
  expect(read?.steps).toHaveLength(9)
  expect(read?.steps[4]?.message).toContain('"deep"')
  expect(read?.steps[7]?.calls.map(({ name }) => name)).toEqual(['unnamed tool', 'unnamed tool'])
  expect(read?.steps[8]?.message).toMatch(/y\n… 100000 more characters$/)
  for (const none of ['', '{', '[]', '{"steps": {}}', 'null']) expect(readTrajectory(none)).toBeUndefined()
})
