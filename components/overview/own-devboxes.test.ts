import { expect, it } from 'vitest'
import { timeLeftOf } from '#components/devboxes/time-left.tsx'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { ownDevboxes } from './overview.tsx'

const devbox = (id: string, more: Partial<Devbox> = {}) =>
  ({
    id,
    status: 'running',
    create_time_ms: 0,
    end_time_ms: null,
    launch_parameters: { keep_alive_time_seconds: 60 },
    metadata: {},
    capabilities: [],
    state_transitions: [{ status: 'running', transition_time_ms: 1_000 }],
    keep_alive_until_ms: 60_000,
    ...more,
  }) as Devbox

it('uses the earliest of eviction, keep-alive and idle, and whether it deletes the disk', () => {
  expect(timeLeftOf(devbox('a'), { deadline_ms: 50_000 })).toMatchObject({ cause: 'eviction', deletesDisk: false })
  expect(timeLeftOf(devbox('a'), { deadline_ms: 70_000 })).toMatchObject({ cause: 'keep_alive', deletesDisk: true })
  const idle = { launch_parameters: { after_idle: { idle_time_seconds: 30, on_idle: 'suspend' as const } } }
  expect(timeLeftOf(devbox('a', { ...idle, last_used_ms: 5_000 }), undefined)).toMatchObject({
    at_ms: 35_000,
    cause: 'idle',
    deletesDisk: false,
  })
  expect(timeLeftOf(devbox('a', { status: 'suspended' }), undefined)).toBeUndefined()
})

it('marks an estimated end as the earliest time, and omits one it cannot estimate', () => {
  const silent = devbox('a')
  delete silent.keep_alive_until_ms
  expect(timeLeftOf(silent, undefined)).toMatchObject({ at_ms: 61_000, is_at_least: true })
  const idle = { ...silent, launch_parameters: { after_idle: { idle_time_seconds: 30, on_idle: 'shutdown' as const } } }
  expect(timeLeftOf(idle, undefined)).toBeUndefined()
})

it('sorts by time left, without duplicates and trials', () => {
  const late = devbox('late', { keep_alive_until_ms: 90_000 })
  const ended = devbox('ended', { status: 'shutdown', create_time_ms: 9 })
  const suspended = devbox('suspended', { status: 'suspended' })
  const trial = devbox('trial', { initiator_type: 'scenario' })
  const rows = ownDevboxes([ended, late, suspended, trial, devbox('soon'), late], [])
  expect(rows.map(({ devbox: { id } }) => id)).toEqual(['soon', 'late', 'suspended', 'ended'])
})
