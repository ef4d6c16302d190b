import { describe, expect, it } from 'vitest'
import { singleTab } from '#lib/terminal/layout/layout.ts'
import { rememberClosed, takeClosed } from './layout-memory.ts'

describe('closed tabs', () => {
  it('reopen in reverse order, once each, and only where they fit', () => {
    for (const name of ['a', 'b', 'c']) rememberClosed('dbx_1', singleTab(name))
    expect(takeClosed('dbx_2', () => true)).toBe(undefined)
    expect(takeClosed('dbx_1', ({ tree }) => tree !== 'c')?.tree).toBe('b')
    expect(takeClosed('dbx_1', () => true)?.tree).toBe('c')
    expect(takeClosed('dbx_1', () => true)?.tree).toBe('a')
    expect(takeClosed('dbx_1', () => true)).toBe(undefined)
  })

  it('are limited to ten', () => {
    for (let number = 0; number < 30; number++) rememberClosed('dbx_3', singleTab(`n${number}`))
    const taken = Array.from({ length: 30 }, () => takeClosed('dbx_3', () => true)?.tree)
    expect(taken.filter(Boolean)).toEqual(Array.from({ length: 10 }, (_, at) => `n${29 - at}`))
  })
})
