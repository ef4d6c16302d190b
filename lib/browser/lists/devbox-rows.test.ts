import { expect, it } from 'vitest'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { type DevboxListView, writeStatuses } from '../address/devbox-list-view.ts'
import { devboxesShownBy } from './devbox-rows.ts'

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
  // Of a newer service.
  devbox('unknown', 1, { status: 'dreaming', launch_parameters: { resource_size_request: 'MEDIUM' } }),
]
const shown = (view: Partial<DevboxListView>) => devboxes.filter(devboxesShownBy(view, now)).map(({ id }) => id)

it('leaves out devboxes of trials, shows them too, or only them', () => {
  expect(shown({})).toEqual(['plain', 'suspended', 'copy', 'blueprint', 'unknown'])
  expect(shown({ trials: 'shown' })).toHaveLength(6)
  expect(shown({ trials: 'only' })).toEqual(['trial'])
})

it('shows several statuses at once', () => {
  expect(shown({ status: writeStatuses(['failure', 'suspended']) })).toEqual(['suspended', 'blueprint'])
  expect(shown({ status: 'running', trials: 'shown' })).toEqual(['plain', 'trial'])
})

it('tells what a devbox was made from', () => {
  expect(shown({ source: 'snapshot' })).toEqual(['copy'])
  expect(shown({ source: 'blueprint' })).toEqual(['blueprint'])
  expect(shown({ source: 'none' })).toEqual(['plain', 'suspended', 'unknown'])
})

it('tells sizes apart, and that none was asked for', () => {
  expect(shown({ size: 'SMALL' })).toEqual(['suspended'])
  expect(shown({ size: 'default' })).toEqual(['plain', 'copy', 'blueprint'])
})

it('shows what is older or younger, or both', () => {
  expect(shown({ older_than: '24h' })).toEqual(['suspended', 'copy'])
  expect(shown({ younger_than: '90min' })).toEqual(['plain', 'unknown'])
  expect(shown({ older_than: '24h', younger_than: '7d' })).toEqual(['suspended'])
  expect(shown({ older_than: '24h', status: 'shutdown', source: 'none' })).toEqual([])
})

it('shows a devbox whose age is not told unless an age is asked for', () => {
  const ageless = devbox('ageless', Number.NaN)
  expect(devboxesShownBy({}, now)(ageless)).toBe(true)
  expect(devboxesShownBy({ older_than: '24h' }, now)(ageless)).toBe(false)
  expect(devboxesShownBy({ younger_than: '24h' }, now)(ageless)).toBe(false)
})
