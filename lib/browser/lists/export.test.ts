import { describe, expect, it } from 'vitest'
import { type ExportColumn, toCsv, toJsonLines } from './export.ts'

interface Row {
  name: unknown
  at: number
}
const columns: ExportColumn<Row>[] = [
  { name: 'name', value: ({ name }) => name },
  { name: 'at_ms', value: ({ at }) => at, text: ({ at }) => new Date(at).toISOString() },
]
const cells = (names: unknown[]) =>
  toCsv(
    names.map((name) => ({ name, at: 0 })),
    [columns[0] as ExportColumn<Row>],
  )
    .slice(1)
    .split('\r\n')
    .slice(1, -1)

describe('toCsv', () => {
  it('quotes every cell, ends lines in CR LF and starts with a byte order mark', () => {
    expect(toCsv([{ name: 'a "b", c\nd', at: 0 }], columns)).toBe(
      '\uFEFF"name","at_ms"\r\n"a ""b"", c\nd","1970-01-01T00:00:00.000Z"\r\n',
    )
  })

  it.each(['=HYPERLINK("http://x")', '+1', '-1+2', '@SUM(A1)', '\t=1', '\r=1', '\n=1', ' =1', '\uFF1D1', '\uFF20x'])(
    'keeps spreadsheets from evaluating %j',
    (name) => {
      const csv = toCsv([{ name, at: 0 }], [columns[0] as ExportColumn<Row>])
      expect(csv.split('\r\n').slice(1).join('\r\n').startsWith(`"'`)).toBe(true)
    },
  )

  it('keeps spreadsheets from evaluating headers, and leaves other values unchanged', () => {
    expect(toCsv([], [{ name: '=cmd', value: () => '' }])).toBe(`\uFEFF"'=cmd"\r\n`)
    expect(cells([-5, 'a=b', '', null, undefined, { '=k': '=v' }])).toEqual([
      '"-5"',
      '"a=b"',
      '""',
      '""',
      '""',
      '"{""=k"":""=v""}"',
    ])
  })
})

it('writes one JSON object per line', () => {
  const lines = toJsonLines(
    [
      { name: 'a\nb', at: 1 },
      { name: null, at: 2 },
    ],
    columns,
  ).split('\n')
  expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual([
    { name: 'a\nb', at_ms: 1 },
    { name: null, at_ms: 2 },
  ])
  expect(lines.at(-1)).toBe('')
})
