import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { findProcesses, findProcessesSoon } from './processes.ts'

const mark = `look-${process.pid}`

it('finds what carries a mark, with its descendants', async () => {
  const child = spawn('bash', ['-c', 'env -i sleep 1000 & echo started; wait'], {
    env: { ...process.env, DEVDECK_TEST: mark },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const found = await findProcessesSoon({ DEVDECK_TEST: mark })
  expect(found).toContain(child.pid)
  expect(found.length).toBe(2)
  expect(findProcesses({ DEVDECK_TEST: mark })).toEqual(found)
  expect(findProcesses({ DEVDECK_TEST: `${mark}0` })).toEqual([])
  const gone = once(child, 'exit')
  process.kill(-(child.pid ?? 0), 'SIGKILL')
  await gone
  // Asked for after the end, so it is not among them, whoever asked before.
  expect(await findProcessesSoon({ DEVDECK_TEST: mark })).not.toContain(child.pid)
})

// A hundred devboxes that ended together looked a hundred times, and nothing was answered for seconds.
it('looks once for all who ask at the same time', async () => {
  let looks = 0
  const look = () => {
    looks++
    return new Map()
  }
  const askTwoHundred = () =>
    Promise.all(Array.from({ length: 200 }, (_, i) => findProcessesSoon({ DEVDECK_TEST: `${mark}-${i}` }, look)))
  await askTwoHundred()
  expect(looks).toBe(1)
  await askTwoHundred()
  expect(looks).toBe(2)
})
