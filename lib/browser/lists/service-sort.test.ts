import { expect, it } from 'vitest'
import { forService, isSortedByService, sortingOf } from './service-sort.ts'

const fields = { name: 'name', created: 'create_time_ms' }

it('asks the service for the columns it sorts by, and reads large pages for the others', () => {
  expect(sortingOf('-created', fields)).toEqual({ sort: 'create_time_ms', order: 'desc' })
  expect(sortingOf('name', fields)).toEqual({ sort: 'name', order: 'asc' })
  expect(sortingOf('metadata.env', fields)).toEqual({ limit: 100 })
  expect(sortingOf('constructor', fields)).toEqual({ limit: 100 })
  expect(sortingOf(undefined, fields)).toEqual({})
})

it('never sends the extension to a service without it', () => {
  const query = { status: 'running', ...sortingOf('-created', fields) }
  expect(forService(query, false)).toEqual({ status: 'running', limit: 100 })
  expect(isSortedByService(forService(query, false))).toBe(false)
  expect(forService(query, true)).toBe(query)
  expect(isSortedByService(query)).toBe(true)
})
