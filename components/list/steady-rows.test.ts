import { describe, expect, it } from 'vitest'
import { steadyRows } from './steady-rows.ts'

const row = (id: string, status = 'running') => ({ id, status })
const idOf = ({ id }: { id: string }) => id
const ids = (rows: { id: string }[]) => rows.map(idOf).join(' ')

describe('rows under the pointer', () => {
  it('keep their places while new ones wait above', () => {
    const { rows, waiting } = steadyRows([row('b'), row('a')], [row('d'), row('c'), row('b'), row('a')])
    expect(ids(rows)).toBe('b a')
    expect(waiting).toBe(2)
  })

  it('show their newest data', () => {
    expect(steadyRows([row('a')], [row('a', 'suspended')]).rows).toEqual([row('a', 'suspended')])
  })

  it('stay when they have left the list', () => {
    expect(ids(steadyRows([row('b'), row('a')], [row('a')]).rows)).toBe('b a')
  })

  it('let more rows follow at the end', () => {
    const { rows, waiting } = steadyRows([row('c'), row('b')], [row('c'), row('b'), row('a')])
    expect(ids(rows)).toBe('c b a')
    expect(waiting).toBe(0)
  })
})
