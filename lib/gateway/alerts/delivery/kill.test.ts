import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { receiverRounds } from './testing/kill-rounds.ts'

it('delivers each state of each alert once and in order across restarts and kills', async () => {
  const command = [fileURLToPath(new URL('./testing/console.ts', import.meta.url))]
  const { alerts, problems, ...report } = await receiverRounds({ command, restarts: 2, kills: 2 })
  expect(problems, JSON.stringify(report)).toEqual([])
  expect(alerts).toBeGreaterThan(10)
})
