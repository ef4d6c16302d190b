import { expect, it } from 'vitest'
import type { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import type { Scenario } from '#lib/contract/scenarios.ts'
import { devboxMatches } from './devbox-matches.ts'
import { axonMatches, contains, runMatches, scenarioMatches, startsWith } from './row-filters.ts'

const rows: BenchmarkRun[] = [
  { id: 'bmr_1', name: 'Alpha', metadata: { env: 'prod', team: 'a' }, state: 'running', start_time_ms: 0 },
  { id: 'bmr_2', name: 'beta', metadata: { env: 'staging' }, state: 'failed', start_time_ms: 0, benchmark_id: 'bmd_1' },
  { id: 'bmr_alpha', name: null, metadata: {}, state: 'running', start_time_ms: 0 },
]
const found = (query: Parameters<typeof runMatches>[0]) => rows.filter(runMatches(query)).map(({ id }) => id)

it('keeps only rows that match every filter of the query', () => {
  expect(found({ search: 'ALPHA' })).toEqual(['bmr_1', 'bmr_alpha'])
  expect(found({ name: 'alpha' })).toEqual(['bmr_1'])
  expect(found({ state: 'running' })).toEqual(['bmr_1', 'bmr_alpha'])
  expect(found({ state: 'running', name: 'beta' })).toEqual([])
  expect(found({ benchmark_id: 'bmd_1' })).toEqual(['bmr_2'])
  expect(found({ metadata: [{ key: 'env', op: 'eq', value: 'prod' }] })).toEqual(['bmr_1'])
  expect(found({ metadata: [{ key: 'env', op: 'in', values: ['prod', 'staging'] }] })).toEqual(['bmr_1', 'bmr_2'])
  expect(found({ metadata: [{ key: 'toString', op: 'eq', value: 'x' }] })).toEqual([])
})

it('ignores paging, unset filters and filters without a row field', () => {
  expect(found({ limit: 20, starting_after: 'bmr_9', search: undefined, name: '' })).toHaveLength(rows.length)
  expect(scenarioMatches({ benchmark_id: 'bmd_1' })({ id: 'scn_1', name: 'a' } as Scenario)).toBe(true)
})

it('checks filters specific to one list', () => {
  const devbox = { id: 'dbx_1', status: 'running', initiator_type: 'scenario' } as Parameters<
    ReturnType<typeof devboxMatches>
  >[0]
  expect(devboxMatches({ status: 'running', origin: 'trial' })(devbox)).toBe(true)
  expect(devboxMatches({ origin: 'own' })(devbox)).toBe(false)
  expect(devboxMatches({ status: 'suspended' })(devbox)).toBe(false)
  const axon = { id: 'axn_1', name: 'prod-a', created_at_ms: 0, metadata: {} }
  expect(axonMatches({ name: 'prod' })(axon)).toBe(true)
  expect(axonMatches({ name: 'a' })(axon)).toBe(false)
  expect(axonMatches({ id: 'axn_2' })(axon)).toBe(false)
  const scenario = { id: 'scn_1', name: 'a' } as Scenario
  expect(scenarioMatches({ validation_type: 'UNSPECIFIED' })(scenario)).toBe(true)
  expect(scenarioMatches({ validation_type: 'FORWARD' })(scenario)).toBe(false)
})

it('matches parts of texts ignoring case, in any script', () => {
  expect(contains('ΣΑΣΑ', 'ΣΑΣ')).toBe(true)
  expect(contains('İzmir', 'İ')).toBe(true)
  expect(contains('100%_a', '%_A')).toBe(true)
  expect(contains(null, 'a')).toBe(false)
  expect(startsWith('ab-c', 'AB')).toBe(true)
  expect(startsWith('ab-c', 'b')).toBe(false)
})
