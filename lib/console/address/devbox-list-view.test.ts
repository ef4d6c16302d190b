import { expect, it } from 'vitest'
import { isOfTrial } from '#lib/contract/devboxes.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { DevboxListView, devboxListPath, devboxQueryOf } from './devbox-list-view.ts'

it('keeps in the address that trials are shown, and asks the service for nothing it does not know', () => {
  const view = { status: 'running', trials: 'shown' } as const
  expect(devboxListPath(view)).toBe('/devboxes?status=running&trials=shown')
  const read = parseQuery(DevboxListView, 'status=running&trials=shown')
  expect(read).toMatchObject({ ok: true, value: view })
  const asked = devboxQueryOf(DevboxListView.parse(view))
  expect(asked).toMatchObject({ status: 'running' })
  expect(asked).not.toHaveProperty('trials')
  expect(parseQuery(DevboxListView, 'trials=hidden')).toMatchObject({ ok: false })
})

it.each([
  ['scenario', true],
  ['scoring_validation', true],
  ['api', false],
  ['unknown', false],
  // A word of a newer service hides nothing.
  ['something_new', false],
  [undefined, false],
] as const)('takes a devbox begun by %s for one of a trial: %s', (initiator_type, expected) => {
  expect(isOfTrial({ initiator_type })).toBe(expected)
})
