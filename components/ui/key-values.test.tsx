import { describe, expect, it } from 'vitest'
import { parseAssignments, rowsToMap } from './key-values.ts'

describe('parseAssignments', () => {
  it('parses an .env file', () => {
    expect(parseAssignments('# database\nexport DB_URL="postgres://a=b"\r\n\nEMPTY=\nQUOTED=\'it is\'\n')).toEqual([
      { key: 'DB_URL', value: 'postgres://a=b' },
      { key: 'EMPTY', value: '' },
      { key: 'QUOTED', value: 'it is' },
    ])
  })

  it('rejects other text', () => {
    for (const text of ['', 'plain', 'a = b c\nno assignment', 'two words=x', '# only a comment'])
      expect(parseAssignments(text)).toBeNull()
  })
})

it('makes a map of rows, and rejects a value without a key and a repeated key', () => {
  const row = (key: string, value = '') => ({ key, value })
  expect(rowsToMap([row('a'), row('')])).toEqual({ ok: true, map: { a: '' } })
  expect(rowsToMap([row('', 'x')])).toMatchObject({ ok: false, index: 0 })
  expect(rowsToMap([row('a'), row('a')])).toMatchObject({ ok: false, index: 1, message: 'a is given twice' })
  expect(rowsToMap([row('__proto__', 'x')])).toEqual({ ok: true, map: JSON.parse('{"__proto__":"x"}') })
})
