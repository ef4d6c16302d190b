import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import type { TrendPoint } from '#lib/protocol/reports.ts'
import { TrendTable } from './trend-table.tsx'

const pageOf = (state: string, complete: boolean): string => {
  const job = { id: 'bmj_1', name: 'nightly', state, create_time_ms: 0 }
  const figures = { benchmark_run_id: 'bmr_1', mean: null, ci_low: null, ci_high: null, reasons: {} }
  const point = { job, complete, figures, change: null, regression: null, incomparable: [] } as unknown as TrendPoint
  return renderToStaticMarkup(
    <TrendTable report={{ points: [point], metric: null }} choice={{ failures: 'zero' }} />,
  ).replace(/<[^>]*>/g, '|')
}

it('marks incomplete jobs', () => {
  expect(pageOf('running', false)).toMatch(/nightly\|+Running/)
  expect(pageOf('cancelled', true)).toMatch(/nightly\|+Canceled/)
  expect(pageOf('completed', true)).not.toContain('Completed')
})
