import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { UsageRule } from './definition.ts'
import { readTrajectory } from './named-run.ts'
import { sumOfUsages, unknownUsage, usageByRule, usageOfTrajectory } from './usage.ts'

const rule = (more: Partial<UsageRule>): UsageRule => ({
  file: 'command.txt',
  take: 'last',
  input: [],
  cache: [],
  output: [],
  cost: [],
  ...more,
})

it('takes the last number or the sum from JSON lines', () => {
  const text = 'hello\n{"a":{"b":1}}\n{broken\n{"a":{"b":5}}\n[{"a":1}]\n{"a":"7"}\n'
  expect(usageByRule(rule({ input: [{ path: 'a.b' }] }), text).n_input_tokens).toBe(5)
  expect(usageByRule(rule({ take: 'sum', input: [{ path: 'a.b' }] }), text).n_input_tokens).toBe(6)
})

it('sums several paths, and every key that a star matches', () => {
  const text = JSON.stringify({ models: { x: { in: 2 }, y: { in: 3 } }, more: 10 })
  const usage = usageByRule(rule({ take: 'sum', input: [{ path: 'models.*.in' }, { path: 'more' }] }), text)
  expect(usage.n_input_tokens).toBe(15)
})

it('ignores missing, negative, broken and non-numeric values', () => {
  const text = '{"in": -1, "out": 1.5, "cost": 1e999}\nTokens: none\n'
  const usage = usageByRule(
    rule({
      input: [{ path: 'in' }],
      output: [{ path: 'out' }],
      cost: [{ path: 'cost' }],
      cache: [{ pattern: 'Tokens: (.*)' }],
    }),
    text,
  )
  expect(usage).toEqual(unknownUsage('command.txt does not contain the numbers of the usage rule'))
  expect(usageByRule(rule({}), undefined).unknown_because).toBe('the agent did not write command.txt')
})

it('stops a pattern that never ends', () => {
  const usage = usageByRule(rule({ input: [{ pattern: '^(a+)+$' }] }), `${'a'.repeat(60)}!`)
  expect(usage.n_input_tokens).toBeNull()
})

it('reads the final metrics of a trajectory', () => {
  const final_metrics = { total_prompt_tokens: 5, total_cached_tokens: 2, total_completion_tokens: 1 }
  expect(usageOfTrajectory(JSON.stringify({ steps: [], final_metrics }))).toEqual({
    n_input_tokens: 5,
    n_cache_tokens: 2,
    n_output_tokens: 1,
    cost_usd: null,
    unknown_because: null,
  })
  expect(usageOfTrajectory('{"steps": []}')?.unknown_because).toMatch(/no final_metrics/)
})

it('does not block while it reads a trajectory', async () => {
  const text = `{"steps":[${'{"a":1},'.repeat(500_000)}{}],"final_metrics":{"total_prompt_tokens":5}}`
  let isRead = false
  let turns = 0
  const reading = readTrajectory(text).finally(() => {
    isRead = true
  })
  for (; !isRead; turns++) await turn()
  expect((await reading)?.n_input_tokens).toBe(5)
  expect(turns).toBeGreaterThan(10)
  expect(await readTrajectory('{"steps": 1}')).toBeUndefined()
  expect(await readTrajectory('{"steps": [')).toBeUndefined()
})

it('does not sum unknown numbers', () => {
  const one = { n_input_tokens: 1, n_cache_tokens: 1, n_output_tokens: 1, cost_usd: null, unknown_because: null }
  expect(sumOfUsages([one, { ...one, n_cache_tokens: null }])).toMatchObject({
    n_input_tokens: 2,
    n_cache_tokens: null,
  })
  expect(sumOfUsages([]).unknown_because).toBe('the agent did not run')
})
