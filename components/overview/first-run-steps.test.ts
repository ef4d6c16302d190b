import { expect, it } from 'vitest'
import { parseSteps, stepOf } from './first-run-steps.ts'

it('takes an opened terminal and a comparison as steps, and no other page', () => {
  expect(stepOf('/devboxes/dbx_1/terminal')).toEqual({ hasOpenedShell: true })
  expect(stepOf('/benchmark-jobs/compare')).toEqual({ hasCompared: true })
  for (const path of ['/', '/devboxes', '/devboxes/dbx_1', '/benchmark-jobs/bmj_1']) expect(stepOf(path)).toEqual({})
})

it('starts over if it cannot read the stored state', () => {
  const none = { hasStarted: false, hasOpenedShell: false, hasCompared: false, isOver: false }
  for (const text of [null, '', '{', 'null', '[]', '"x"']) expect(parseSteps(text)).toEqual(none)
  expect(parseSteps('{"isOver":true,"hasStarted":1}')).toEqual({ ...none, isOver: true })
})
