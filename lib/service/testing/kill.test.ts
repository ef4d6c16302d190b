import { expect, it } from 'vitest'
import { killRounds } from './kill.ts'

// Short version of `npm run soak`.
it('loses no acknowledged write and leaves no process when killed under load', async () => {
  const report = await killRounds({ rounds: 4, isolation: 'auto' })
  expect(report, `seed ${report.seed}`).toMatchObject({ rounds: 4, lost: [], broken: [], orphans: [] })
  expect(report.acknowledged).toBeGreaterThanOrEqual(40)
  expect(report.running).toBeGreaterThanOrEqual(2)
})
