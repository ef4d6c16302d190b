import { describe, expect, it } from 'vitest'
import { parseAssignments, rowsToMap } from './key-values.ts'

describe('parseAssignments', () => {
  it('reads the lines of an .env file', () => {
    expect(parseAssignments('# database\nexport DB_URL="postgres://a=b"\r\n\nEMPTY=\nQUOTED=\'it is\'\n')).toEqual([
      { key: 'DB_URL', value: 'postgres://a=b' },
      { key: 'EMPTY', value: '' },
      { key: 'QUOTED', value: 'it is' },
    ])
  })

  it('takes no other text for assignments', () => {
    for (const text of ['', 'plain', 'a = b c\nno assignment', 'two words=x', '# only a comment'])
      expect(parseAssignments(text)).toBeNull()
  })
})

describe('rowsToMap', () => {
  it('leaves out empty rows', () => {
    expect(
      rowsToMap([
        { key: 'a', value: '' },
        { key: '', value: '' },
      ]),
    ).toEqual({ ok: true, map: { a: '' } })
  })

  it('refuses a value without a key and a key given twice', () => {
    expect(rowsToMap([{ key: '', value: 'x' }])).toMatchObject({ ok: false, index: 0 })
    expect(
      rowsToMap([
        { key: 'a', value: '1' },
        { key: 'a', value: '1' },
      ]),
    ).toMatchObject({ ok: false, index: 1, message: 'a is given twice' })
  })

  it('takes keys that objects have of their own', () => {
    const read = rowsToMap([{ key: '__proto__', value: 'x' }])
    expect(read.ok && Object.entries(read.map)).toEqual([['__proto__', 'x']])
  })
})
