import { expect, it } from 'vitest'
import { isOfTrial } from '#lib/contract/devboxes.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { DevboxListView, devboxListPath, devboxQueryOf, statusesOf, writeStatuses } from './devbox-list-view.ts'

it('keeps in the address that trials are shown, and asks the service for nothing it does not know', () => {
  const view = { status: 'running', trials: 'shown' } as const
  expect(devboxListPath(view)).toBe('/devboxes?status=running&trials=shown')
  const read = parseQuery(DevboxListView, 'status=running&trials=shown')
  expect(read).toMatchObject({ ok: true, value: view })
  const asked = devboxQueryOf(DevboxListView.parse(view))
  expect(asked).toMatchObject({ status: 'running' })
  expect(asked).not.toHaveProperty('trials')
  expect(asked).not.toHaveProperty('origin')
  expect(devboxQueryOf(DevboxListView.parse({}))).toMatchObject({ origin: 'own' })
  expect(devboxQueryOf(DevboxListView.parse({ trials: 'only' }))).toMatchObject({ origin: 'trial' })
  expect(parseQuery(DevboxListView, 'trials=hidden')).toMatchObject({ ok: false })
})

it('asks the service for one status, and keeps several for the page, in one order', () => {
  const status = writeStatuses(['suspended', 'running'])
  expect(status).toBe('running,suspended')
  expect(writeStatuses([])).toBeUndefined()
  expect(statusesOf({ status })).toEqual(['running', 'suspended'])
  expect(devboxListPath({ status })).toBe('/devboxes?status=running,suspended')
  expect(devboxQueryOf(DevboxListView.parse({ status }))).not.toHaveProperty('status')
  expect(parseQuery(DevboxListView, 'status=running,dreaming')).toMatchObject({ ok: false })
})

it('keeps in the address what only the page filters by, and refuses what it cannot mean', () => {
  const search = 'source=snapshot&size=default&older_than=24h&younger_than=7d'
  const read = parseQuery(DevboxListView, search)
  if (!read.ok) throw new Error(JSON.stringify(read.problems))
  expect(devboxListPath(read.value)).toBe(`/devboxes?${search}`)
  expect(Object.keys(devboxQueryOf(read.value)).sort()).toEqual(['include_total_count', 'limit', 'origin'])
  for (const wrong of ['source=image', 'size=HUGE', 'older_than=soon', 'younger_than=7'])
    expect(parseQuery(DevboxListView, wrong)).toMatchObject({ ok: false })
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
