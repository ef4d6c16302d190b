import { expect, it } from 'vitest'
import { alertOf } from '#lib/protocol/testing.ts'
import { currentSuspensionCause, evictionAtStep } from './devbox-eviction.tsx'

const eviction = alertOf({ state: 'ended', deadline_ms: 10_000 })
const step = (status: string, transition_time_ms: number) => ({ status, transition_time_ms })
const running = step('running', 0)
const suspending = [running, step('suspending', 10_050)]
const suspended = [...suspending, step('suspended', 12_000)]
const resumed = [...suspended, step('resuming', 20_000), step('running', 21_000)]
const suspendedAgain = [...resumed, step('suspending', 30_000), step('suspended', 31_000)]

it.each([
  ['suspended at the deadline', suspended, true],
  ['still suspending', suspending, true],
  ['suspended without a suspending step', [running, step('suspended', 10_100)], true],
  ['suspended before the deadline', [running, step('suspended', 8_000)], false],
  ['suspended long after the deadline', [running, step('suspended', 100_000)], false],
  ['resumed since', resumed, false],
  ['suspended by a person soon after', suspendedAgain, false],
])('a devbox %s: evicted %s', (_, steps, isEvicted) => {
  const devbox = { status: steps.at(-1)?.status ?? '', state_transitions: steps }
  expect(currentSuspensionCause([eviction], devbox)).toBe(isEvicted ? eviction : undefined)
})

it('ignores evictions that did not take place', () => {
  const moved = { ...eviction, state: 'moved' as const }
  expect(currentSuspensionCause([moved], { status: 'suspended', state_transitions: suspended })).toBeUndefined()
})

it('marks only the step that started the suspension', () => {
  const marked = suspendedAgain.flatMap((_, i) => (evictionAtStep([eviction], suspendedAgain, i) ? [i] : []))
  expect(marked).toEqual([1])
})
