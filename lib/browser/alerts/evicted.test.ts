import { expect, it } from 'vitest'
import type { Alert } from '#lib/protocol/alerts.ts'
import { evictionBehind, evictionOfStep } from './evicted.ts'

const eviction = {
  id: 'dbx_1@10000',
  kind: 'eviction',
  state: 'ended',
  devbox_id: 'dbx_1',
  deadline_ms: 10_000,
} as Alert
const step = (status: string, transition_time_ms: number) => ({ status, transition_time_ms })
const steps = [step('running', 0), step('suspending', 10_050), step('suspended', 12_000)]

it('finds the eviction that a devbox was suspended by, at the step that began it', () => {
  expect(evictionOfStep([eviction], steps, 1)).toBe(eviction)
  expect(evictionOfStep([eviction], steps, 2)).toBeUndefined()
  expect(evictionBehind([eviction], { status: 'suspended', state_transitions: steps })).toBe(eviction)
  expect(evictionBehind([eviction], { status: 'suspending', state_transitions: steps.slice(0, 2) })).toBe(eviction)
})

it('knows a service that tells of no suspending', () => {
  const short = [step('running', 0), step('suspended', 10_100)]
  expect(evictionBehind([eviction], { status: 'suspended', state_transitions: short })).toBe(eviction)
})

it('blames no eviction for what somebody did before or long after it, or once it was resumed', () => {
  const at = (ms: number) => [step('running', 0), step('suspended', ms)]
  expect(evictionBehind([eviction], { status: 'suspended', state_transitions: at(8_000) })).toBeUndefined()
  expect(evictionBehind([eviction], { status: 'suspended', state_transitions: at(100_000) })).toBeUndefined()
  expect(
    evictionBehind([{ ...eviction, state: 'moved' }], { status: 'suspended', state_transitions: at(10_100) }),
  ).toBeUndefined()
  const resumed = [...steps, step('resuming', 20_000), step('running', 21_000)]
  expect(evictionBehind([eviction], { status: 'running', state_transitions: resumed })).toBeUndefined()
  expect(evictionOfStep([eviction], resumed, 1)).toBe(eviction)
})

it('takes a suspension by a person for no eviction, however soon after one it comes', () => {
  const again = [...steps, step('resuming', 20_000), step('running', 21_000), step('suspending', 30_000)]
  expect(evictionBehind([eviction], { status: 'suspending', state_transitions: again })).toBeUndefined()
  expect(evictionOfStep([eviction], again, 5)).toBeUndefined()
  const suspended = [...again, step('suspended', 31_000)]
  expect(evictionBehind([eviction], { status: 'suspended', state_transitions: suspended })).toBeUndefined()
  expect(evictionOfStep([eviction], suspended, 1)).toBe(eviction)
})
