import { expect, it } from 'vitest'
import { killRounds } from './kill.ts'

// Short version of `npm run soak`.
it('loses no acknowledged write and leaves no process when killed under load', async () => {
  const report = await killRounds({ rounds: 2, seed: 1, isolation: 'auto' })
  expect(report).toMatchObject({ rounds: 2, lost: [], broken: [], orphans: [] })
  expect(report.acknowledged).toBeGreaterThanOrEqual(20)
  expect(report.running).toBeGreaterThanOrEqual(1)
})
