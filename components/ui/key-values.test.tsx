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

describe('rowsToMap', () => {
  it('skips empty rows', () => {
    expect(
      rowsToMap([
        { key: 'a', value: '' },
        { key: '', value: '' },
      ]),
    ).toEqual({ ok: true, map: { a: '' } })
  })

  it('rejects a value without a key and a repeated key', () => {
    expect(rowsToMap([{ key: '', value: 'x' }])).toMatchObject({ ok: false, index: 0 })
    expect(
      rowsToMap([
        { key: 'a', value: '1' },
        { key: 'a', value: '1' },
      ]),
    ).toMatchObject({ ok: false, index: 1, message: 'a is given twice' })
  })

  it('accepts keys such as constructor', () => {
    const read = rowsToMap([{ key: '__proto__', value: 'x' }])
    expect(read.ok && Object.entries(read.map)).toEqual([['__proto__', 'x']])
  })
})
