import { expect, it } from 'vitest'
import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import {
  DevboxSearchParams,
  devboxesPath,
  devboxFilter,
  devboxQueryOf,
  formatStatuses,
  parseStatuses,
} from './search-params.ts'

const now = Date.UTC(2026, 10, 22, 12)
const hourMs = 3_600_000
const devbox = (id: string, hours: number, more: Partial<Devbox> = {}): Devbox => ({
  id,
  status: 'running',
  create_time_ms: now - hours * hourMs,
  end_time_ms: null,
  launch_parameters: {},
  metadata: {},
  capabilities: [],
  state_transitions: [],
  ...more,
})
const devboxes = [
  devbox('plain', 1),
  devbox('suspended', 30, { status: 'suspended', launch_parameters: { resource_size_request: 'SMALL' } }),
  devbox('copy', 200, { status: 'shutdown', snapshot_id: 'snp_1', blueprint_id: 'bpt_1' }),
  devbox('blueprint', 2, { status: 'failure', blueprint_id: 'bpt_1' }),
  devbox('trial', 1, { initiator_type: 'scenario' }),
  // From a newer service.
  devbox('unknown', 1, { status: 'dreaming', launch_parameters: { resource_size_request: 'MEDIUM' } }),
]
const shown = (params: Partial<DevboxSearchParams>) => devboxes.filter(devboxFilter(params, now)).map(({ id }) => id)

it('hides trial devboxes, includes them, or shows only them', () => {
  expect(shown({})).toEqual(['plain', 'suspended', 'copy', 'blueprint', 'unknown'])
  expect(shown({ trials: 'shown' })).toHaveLength(6)
  expect(shown({ trials: 'only' })).toEqual(['trial'])
})

it('filters by several statuses', () => {
  expect(shown({ status: formatStatuses(['failure', 'suspended']) })).toEqual(['suspended', 'blueprint'])
  expect(shown({ status: 'running', trials: 'shown' })).toEqual(['plain', 'trial'])
})

it('filters by source', () => {
  expect(shown({ source: 'snapshot' })).toEqual(['copy'])
  expect(shown({ source: 'blueprint' })).toEqual(['blueprint'])
  expect(shown({ blueprint: 'bpt_1' })).toEqual(['copy', 'blueprint'])
  expect(shown({ source: 'none' })).toEqual(['plain', 'suspended', 'unknown'])
})

it('filters by size, including the default', () => {
  expect(shown({ size: 'SMALL' })).toEqual(['suspended'])
  expect(shown({ size: 'default' })).toEqual(['plain', 'copy', 'blueprint'])
})

it('filters by age', () => {
  expect(shown({ older_than: '24h' })).toEqual(['suspended', 'copy'])
  expect(shown({ younger_than: '90min' })).toEqual(['plain', 'unknown'])
  expect(shown({ older_than: '24h', younger_than: '7d' })).toEqual(['suspended'])
  expect(shown({ older_than: '24h', status: 'shutdown', source: 'none' })).toEqual([])
})

it('shows devboxes of unknown age unless filtering by age', () => {
  const ageless = devbox('ageless', Number.NaN)
  expect(devboxFilter({}, now)(ageless)).toBe(true)
  expect(devboxFilter({ older_than: '24h' }, now)(ageless)).toBe(false)
  expect(devboxFilter({ younger_than: '24h' }, now)(ageless)).toBe(false)
})

it('keeps `trials` in the address and sends the API `origin`', () => {
  const params = { status: 'running', trials: 'shown' } as const
  expect(devboxesPath(params)).toBe('/devboxes?status=running&trials=shown')
  const read = parseQuery(DevboxSearchParams, 'status=running&trials=shown')
  expect(read).toMatchObject({ ok: true, value: params })
  const query = devboxQueryOf(DevboxSearchParams.parse(params))
  expect(query).toMatchObject({ status: 'running' })
  expect(query).not.toHaveProperty('trials')
  expect(query).not.toHaveProperty('origin')
  expect(devboxQueryOf(DevboxSearchParams.parse({}))).toMatchObject({ origin: 'own' })
  expect(devboxQueryOf(DevboxSearchParams.parse({ trials: 'only' }))).toMatchObject({ origin: 'trial' })
  expect(parseQuery(DevboxSearchParams, 'trials=hidden')).toMatchObject({ ok: false })
})

it('sends the API one status and filters several on the page', () => {
  const status = formatStatuses(['suspended', 'running'])
  expect(status).toBe('running,suspended')
  expect(formatStatuses([])).toBeUndefined()
  expect(parseStatuses({ status })).toEqual(['running', 'suspended'])
  expect(devboxesPath({ status })).toBe('/devboxes?status=running,suspended')
  expect(devboxQueryOf(DevboxSearchParams.parse({ status }))).not.toHaveProperty('status')
  expect(parseQuery(DevboxSearchParams, 'status=running,dreaming')).toMatchObject({ ok: false })
})

it('keeps all filters in the address and rejects invalid ones', () => {
  const search = 'source=snapshot&size=default&older_than=24h&younger_than=7d'
  const read = parseQuery(DevboxSearchParams, search)
  if (!read.ok) throw new Error(JSON.stringify(read.problems))
  expect(devboxesPath(read.value)).toBe(`/devboxes?${search}`)
  expect(Object.keys(devboxQueryOf(read.value)).sort()).toEqual(['include_total_count', 'limit', 'origin'])
  for (const wrong of ['source=image', 'size=HUGE', 'older_than=soon', 'younger_than=7'])
    expect(parseQuery(DevboxSearchParams, wrong)).toMatchObject({ ok: false })
})

it.each([
  ['scenario', true],
  ['scoring_validation', true],
  ['api', false],
  ['unknown', false],
  // From a newer service.
  ['something_new', false],
  [undefined, false],
] as const)('initiator %s belongs to a trial: %s', (initiator_type, expected) => {
  expect(isOfTrial({ initiator_type })).toBe(expected)
})
