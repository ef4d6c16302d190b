import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { CompareReport } from '#lib/protocol/reports.ts'
import { holm, mcnemar, scenariosNeeded } from '#lib/statistics/differences.ts'
import type { Direction } from '#lib/statistics/figures.ts'
import { passAtK, passHatK, zInterval } from '#lib/statistics/means.ts'
import { compare, judge } from '#lib/statistics/testing.ts'
import { gateOf } from './gate.ts'

type Scores = readonly (number | readonly number[])[]

const agentOf = (scores: Scores, job_id = 'new', costs: readonly number[] = []) => ({
  agent_name: 'A',
  model_name: null,
  benchmark_run_id: job_id,
  job_id,
  outcomes: scores.flatMap((given, i) =>
    [given].flat().map((score) => ({
      scenario_id: `${i}`,
      scenario_name: `${i}`,
      state: 'COMPLETED',
      score,
      usage: { cost_usd: costs[i] },
    })),
  ),
})

const figuresOf = (scores: Scores, costs?: readonly number[]) => {
  const [agent] = judge({ agents: [agentOf(scores, 'new', costs)], complete: true }).agents
  if (!agent) throw new Error('no agent')
  return agent
}

const comparisonOf = (a: Scores, b: Scores, direction?: Direction) =>
  compare({ agents: [agentOf(b, 'old'), agentOf(a)], complete: true, direction }, ({ job_id }) =>
    job_id === 'new' ? 'old' : null,
  )

const pairOf = (a: Scores, b: Scores) => {
  const [pair] = comparisonOf(a, b).pairs
  if (!pair) throw new Error('no pair')
  return pair
}

const nonInferior = (direction: Direction) => (a: Scores, b: Scores, margin: number) => {
  const jobs = ['old', 'new'].map((id) => ({ id, name: id })) as unknown as CompareReport['jobs']
  const figures = { jobs, baseline: 'old', ...comparisonOf(a, b, direction) }
  const { passed, decided, runs } = gateOf({ kind: 'non_inferior', margin }, figures, [])
  return [decided ? (passed ? 'passed' : 'failed') : 'undecided', runs[0]?.bound]
}

// biome-ignore lint/suspicious/noExplicitAny: arguments come from the document
const functions: Record<string, (...given: any[]) => unknown> = {
  mean: (scores) => figuresOf(scores).mean,
  se: (scores) => figuresOf(scores).se,
  interval: (scores) => [figuresOf(scores).ci_low, figuresOf(scores).ci_high],
  z_interval: (mean, se) => Object.values(zInterval(mean, se)),
  difference: (a, b) => pairOf(a, b).difference,
  difference_se: (a, b) => pairOf(a, b).se,
  difference_interval: (a, b) => [pairOf(a, b).ci_low, pairOf(a, b).ci_high],
  sign_flip: (a, b) => pairOf(a, b).p_value,
  mcnemar: (b, c) => Object.values(mcnemar(b, c)),
  holm,
  non_inferior: nonInferior('higher'),
  non_inferior_lower: nonInferior('lower'),
  scenarios_needed: (a, b) => pairOf(a, b).scenarios_needed,
  sample_size: scenariosNeeded,
  pass_at_k: passAtK,
  pass_hat_k: passHatK,
  cost_per_solved: (scores, costs) => figuresOf(scores, costs).cost_per_solved,
}

const text = readFileSync(new URL('../../../docs/statistics.md', import.meta.url), 'utf8')
const lines = [...text.matchAll(/```text\n(.*?)```/gs)].flatMap(([, block = '']) => block.trim().split('\n'))
const data = new Map(
  lines.flatMap((line) => [...line.matchAll(/^(\w+) = (.*)$/g)].map(([, name, list]) => [name, list])),
)
const examples = lines.filter((line) => !/^\w+ = /.test(line))

it.each(examples)('computes the example %s', (example) => {
  const [, name = '', given = '', shown = ''] = /^(\w+)\((.*)\) = (.*)$/.exec(example) ?? []
  const args = JSON.parse(`[${given.replace(/\b[ABd]\b/g, (list) => data.get(list) ?? list)}]`)
  const computed = [functions[name]?.(...args)].flat()
  const documented = shown.split(', ')
  expect(computed.map((value, i) => sameDigits(value, documented[i] ?? ''))).toEqual(documented)
})

const sameDigits = (value: unknown, documented: string) =>
  typeof value === 'number' ? value.toFixed(documented.split('.')[1]?.length ?? 0) : value

it('has an example of every function, and differences that belong to A and B', () => {
  expect(new Set(examples.map((line) => line.split('(')[0]))).toEqual(new Set(Object.keys(functions)))
  const [a, b, d] = ['A', 'B', 'd'].map((name) => JSON.parse(data.get(name) ?? '[]') as number[])
  expect(a?.map((score, i) => score - (b?.[i] ?? Number.NaN))).toEqual(d)
})
