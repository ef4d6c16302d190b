import { expect, it } from 'vitest'
import { Devbox } from '#lib/contract/devboxes.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { timeLeftOf } from './time-left.tsx'

const eviction = { deadline_ms: 5_000 }
const devboxOf = (status: string): Devbox => readLeniently(Devbox, { id: 'dbx_1', status })

it('counts down to the eviction of a devbox that runs or starts', () => {
  for (const status of ['provisioning', 'running', 'resuming'])
    expect(timeLeftOf(devboxOf(status), eviction)).toMatchObject({ at_ms: 5_000, cause: 'eviction' })
})

it('counts down to no eviction of a devbox that has stopped, though the service still reports it', () => {
  for (const status of ['suspending', 'suspended', 'shutdown', 'failure'])
    expect(timeLeftOf(devboxOf(status), eviction)).toBeUndefined()
})
