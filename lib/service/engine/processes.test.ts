import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { findProcesses } from './processes.ts'

const mark = `test-${process.pid}`

it('finds marked processes and their descendants', async () => {
  const child = spawn('bash', ['-c', 'env -i sleep 1000 & echo started; wait'], {
    env: { ...process.env, DEVDECK_TEST: mark },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const found = findProcesses({ DEVDECK_TEST: mark })
  expect(found).toContain(child.pid)
  expect(found.length).toBe(2)
  expect(findProcesses({ DEVDECK_TEST: `${mark}0` })).toEqual([])
  const exited = once(child, 'exit')
  process.kill(-(child.pid ?? 0), 'SIGKILL')
  await exited
  expect(findProcesses({ DEVDECK_TEST: mark })).not.toContain(child.pid)
})
