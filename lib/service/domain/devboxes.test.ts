import { describe, expect, it } from 'vitest'
import { devboxRefusal, devboxStatuses, hasEnded } from '#lib/contract/devboxes.ts'
import { type DevboxEvent, hostnameFor, keepAliveUntil, nextStatus } from './devboxes.ts'

const events: DevboxEvent[] = [
  'provisioned',
  'initialized',
  'suspend',
  'suspended',
  'resume',
  'resumed',
  'fail',
  'shutdown',
  'recover',
]
const table = Object.fromEntries(
  devboxStatuses.map((status) => [
    status,
    events.flatMap((event) => (nextStatus(status, event) ? [`${event} -> ${nextStatus(status, event)}`] : [])),
  ]),
)

describe('the states of a devbox', () => {
  it('are these and no other moves', () => {
    expect(table).toEqual({
      scheduled: ['shutdown -> shutdown'],
      queued: ['shutdown -> shutdown'],
      provisioning: [
        'provisioned -> initializing',
        'fail -> failure',
        'shutdown -> shutdown',
        'recover -> initializing',
      ],
      initializing: ['initialized -> running', 'fail -> failure', 'shutdown -> shutdown', 'recover -> initializing'],
      running: ['suspend -> suspending', 'fail -> failure', 'shutdown -> shutdown', 'recover -> initializing'],
      suspending: ['suspended -> suspended', 'shutdown -> shutdown', 'recover -> suspended'],
      suspended: ['resume -> resuming', 'shutdown -> shutdown'],
      resuming: ['resumed -> initializing', 'fail -> failure', 'shutdown -> shutdown', 'recover -> initializing'],
      failure: [],
      shutdown: [],
    })
  })

  it('allow suspend and resume exactly where the contract does not refuse them', () => {
    for (const status of devboxStatuses)
      for (const action of ['suspend', 'resume'] as const)
        expect([status, action, nextStatus(status, action) !== undefined]).toEqual([
          status,
          action,
          devboxRefusal(action, status) === null,
        ])
  })

  it('are left by nothing once it has ended', () => {
    for (const status of devboxStatuses)
      expect(hasEnded(status)).toBe(events.every((event) => nextStatus(status, event) === undefined))
  })
})

describe('keepAliveUntil', () => {
  it('counts from now, an hour unless told, and never beside an idle rule', () => {
    expect(keepAliveUntil({}, 1000)).toBe(3_601_000)
    expect(keepAliveUntil({ keep_alive_time_seconds: 5 }, 1000)).toBe(6000)
    expect(
      keepAliveUntil({ keep_alive_time_seconds: 5, after_idle: { idle_time_seconds: 1, on_idle: 'suspend' } }, 1000),
    ).toBeNull()
  })
})

describe('hostnameFor', () => {
  it('keeps what a host name may hold', () => {
    expect(hostnameFor('My Box! ', 'x')).toBe('My-Box')
    expect(hostnameFor('ä', 'dbx_1')).toBe('dbx-1')
    expect(hostnameFor(null, 'dbx_1')).toBe('dbx-1')
    expect(hostnameFor(`${'a'.repeat(62)} b`, 'x')).toBe('a'.repeat(62))
  })
})
