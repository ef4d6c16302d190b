import { expect, it } from 'vitest'
import { killRounds } from './kill.ts'

// The short form of `npm run soak`.
it('loses nothing it has acknowledged when it is killed under load, and leaves nothing running', async () => {
  const report = await killRounds({ rounds: 4, isolation: 'auto' })
  expect(report, `seed ${report.seed}`).toMatchObject({ rounds: 4, lost: [], broken: [], orphans: [] })
  expect(report.acknowledged).toBeGreaterThanOrEqual(40)
  expect(report.running).toBeGreaterThanOrEqual(2)
})
