import { describe, expect, it } from 'vitest'
import { devboxRefusal, devboxStatuses, keepsDisk, resumeRefusal, shutdownRefusal } from '#lib/contract/devboxes.ts'
import { endReason, hostnameFor, keepAliveUntil, nextStatus, usageOf } from './devboxes.ts'

const events = [
  ...(['provision', 'provisioned', 'initialized', 'suspend', 'suspended', 'resume'] as const),
  ...(['fail', 'shutdown', 'recover'] as const),
]

describe('devbox states', () => {
  it('have exactly these transitions', () => {
    const table = devboxStatuses.map((status) => [status, ...events.map((event) => nextStatus(status, event) ?? '-')])
    expect(table.map((row) => row.join(' '))).toEqual([
      'scheduled provisioning - - - - - failure shutdown provisioning',
      'queued provisioning - - - - - failure shutdown provisioning',
      'provisioning - initializing - - - - failure shutdown provisioning',
      'initializing - - running - - - failure shutdown initializing',
      'running - - - suspending - - failure shutdown initializing',
      'suspending - - - - suspended - - shutdown suspended',
      'suspended - - - - - provisioning - shutdown -',
      'resuming - - - - - - - shutdown provisioning',
      'failure - - - - - provisioning - shutdown -',
      'shutdown - - - - - - - - -',
    ])
  })

  it('allow suspend and resume exactly where the contract does', () => {
    for (const status of devboxStatuses)
      for (const action of ['suspend', 'resume'] as const)
        expect([status, action, nextStatus(status, action) !== undefined]).toEqual([
          status,
          action,
          devboxRefusal(action, status) === null,
        ])
  })

  it('allow resuming or shutting down a failed devbox that has a disk', () => {
    const neverRan = { status: 'failure', state_transitions: [{ status: 'provisioning' }, { status: 'failure' }] }
    const hasRun = { status: 'failure', state_transitions: [{ status: 'running' }, { status: 'failure' }] }
    const allowed = (devbox: Parameters<typeof keepsDisk>[0]) =>
      [keepsDisk(devbox), resumeRefusal(devbox) === null, shutdownRefusal(devbox) === null].join()
    expect(allowed(hasRun)).toBe('true,true,true')
    expect(allowed(neverRan)).toBe('false,false,false')
    expect(allowed({ status: 'running', state_transitions: [] })).toBe('true,false,true')
    expect(allowed({ status: 'shutdown', state_transitions: [{ status: 'running' }] })).toBe('false,false,false')
  })
})

it('keeps a devbox alive for an hour by default, and without an end under an idle policy', () => {
  expect(keepAliveUntil({}, 1000)).toBe(3_601_000)
  expect(keepAliveUntil({ keep_alive_time_seconds: 5 }, 1000)).toBe(6000)
  expect(keepAliveUntil({ after_idle: { idle_time_seconds: 1, on_idle: 'suspend' } }, 1000)).toBeNull()
})

it('makes a host name from valid characters', () => {
  expect(hostnameFor('My Box! ', 'x')).toBe('My-Box')
  expect(hostnameFor('ä', 'dbx_1')).toBe('dbx-1')
  expect(hostnameFor(`${'a'.repeat(62)} b`, 'x')).toBe('a'.repeat(62))
})

describe('usageOf', () => {
  const resources = { cpuCores: 0.5, memoryGb: 2, diskGb: 4 }
  const at = (status: string, seconds: number) => ({ status, transition_time_ms: 1_000_000 + seconds * 1000 })
  const usage = (seconds: number, endSeconds: number | null, ...state_transitions: ReturnType<typeof at>[]) =>
    usageOf(
      {
        id: 'dbx_1',
        status: state_transitions.at(-1)?.status ?? '',
        create_time_ms: 1_000_000,
        end_time_ms: endSeconds === null ? null : 1_000_000 + endSeconds * 1000,
        state_transitions,
      },
      resources,
      1_000_000 + seconds * 1000,
    )

  it('counts CPU and memory while active, and disk always', () => {
    const transitions = [
      at('provisioning', 0),
      at('initializing', 2),
      at('running', 5),
      at('suspending', 20),
      at('suspended', 22),
      at('resuming', 100),
      at('initializing', 101),
      at('running', 103),
    ]
    expect(usage(113.9, null, ...transitions)).toEqual({
      id: 'dbx_1',
      status: 'running',
      start_time_ms: 1_000_000,
      end_time_ms: null,
      total_active_seconds: 32,
      total_elapsed_seconds: 113,
      vcpu_seconds: 16,
      memory_gb_seconds: 65,
      disk_gb_seconds: 455,
    })
  })

  it('stops at the end of the devbox', () => {
    const transitions = [at('provisioning', 0), at('initializing', 1), at('running', 2), at('shutdown', 11)]
    expect(usage(5000, 11, ...transitions)).toMatchObject({ total_active_seconds: 10, total_elapsed_seconds: 11 })
    expect(usage(5000, 3, at('provisioning', 0), at('failure', 3))).toMatchObject({
      total_active_seconds: 0,
      vcpu_seconds: 0,
      disk_gb_seconds: 12,
    })
  })
})

it('describes why a devbox ended', () => {
  expect(endReason({ status: 'suspending' }, false)).toBe('The devbox is suspending')
  expect(endReason({ status: 'suspending' }, true)).toBe('The devbox is suspending: it was evicted')
  expect(endReason({ status: 'shutdown', shutdown_reason: 'api_shutdown' }, false)).toBe('The devbox was shut down')
  expect(endReason({ status: 'shutdown', shutdown_reason: 'keep_alive_timeout' }, true)).toBe(
    'The devbox was shut down: its keep-alive time expired',
  )
  expect(endReason({ status: 'failure', failure_reason: 'out_of_memory' }, false)).toBe(
    'The devbox has failed: it ran out of memory',
  )
  expect(endReason({ status: 'failure', failure_reason: null }, false)).toBe('The devbox has failed')
})
