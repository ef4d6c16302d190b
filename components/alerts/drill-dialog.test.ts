import { expect, it } from 'vitest'
import { drillOptions } from './drill-dialog.tsx'

it('offers devboxes that people created, but not those of benchmark trials', () => {
  const running = [
    { id: 'dbx_trial', name: 'sum-column', initiator_type: 'scenario' },
    { id: 'dbx_scoring', name: null, initiator_type: 'scoring_validation' },
    { id: 'dbx_mine', name: 'worker\n<b>', initiator_type: 'api' },
    { id: 'dbx_unnamed', name: null },
  ]
  expect(drillOptions(running)).toEqual([
    { value: 'dbx_mine', label: 'worker ‹b› (dbx_mine)' },
    { value: 'dbx_unnamed', label: 'dbx_unnamed' },
  ])
})
