import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { findProcesses, findProcessesBatched } from './processes.ts'

const mark = `test-${process.pid}`

it('finds marked processes and their descendants', async () => {
  const child = spawn('bash', ['-c', 'env -i sleep 1000 & echo started; wait'], {
    env: { ...process.env, DEVDECK_TEST: mark },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const found = await findProcessesBatched({ DEVDECK_TEST: mark })
  expect(found).toContain(child.pid)
  expect(found.length).toBe(2)
  expect(findProcesses({ DEVDECK_TEST: mark })).toEqual(found)
  expect(findProcesses({ DEVDECK_TEST: `${mark}0` })).toEqual([])
  const exited = once(child, 'exit')
  process.kill(-(child.pid ?? 0), 'SIGKILL')
  await exited
  expect(await findProcessesBatched({ DEVDECK_TEST: mark })).not.toContain(child.pid)
})

// Stopping 100 devboxes at once caused 100 scans and blocked the service for seconds.
it('scans /proc once for concurrent calls', async () => {
  let scans = 0
  const scan = () => {
    scans++
    return new Map()
  }
  const findConcurrently = () =>
    Promise.all(Array.from({ length: 200 }, (_, i) => findProcessesBatched({ DEVDECK_TEST: `${mark}-${i}` }, scan)))
  await findConcurrently()
  expect(scans).toBe(1)
  await findConcurrently()
  expect(scans).toBe(2)
})
