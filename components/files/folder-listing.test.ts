import { describe, expect, it } from 'vitest'
import { type FolderEntry, formatMode, openTarget, parseListing, sortEntries } from './folder-listing.ts'

const listing = (...records: string[]) => parseListing(Buffer.from(records.join('\0'), 'latin1').toString('base64'))

const entry = (part: Partial<FolderEntry>): FolderEntry => ({
  name: 'a',
  type: 'f',
  target: null,
  sizeBytes: 0,
  changedMs: 0,
  mode: '644',
  owner: 'me',
  ...part,
})

describe('a listing', () => {
  it('includes every entry and the total', () => {
    expect(
      listing('/srv', '12\n', '0/l/d/4/1700000000.5000000000/777/me/link/../a/b', '1/f/f/9/1.25/4755/0/x\n', ''),
    ).toEqual({
      folder: '/srv',
      total: 12,
      isOnlyByName: false,
      entries: [
        entry({
          name: 'link',
          type: 'l',
          target: { path: '../a/b', type: 'd' },
          sizeBytes: 4,
          changedMs: 1_700_000_000_500,
          mode: '777',
        }),
        entry({ name: 'x\n', sizeBytes: 9, changedMs: 1250, mode: '4755', owner: '0' }),
      ],
    })
  })

  it("skips a cut entry and keeps bytes that aren't UTF-8", () => {
    const { entries, total } = listing('/', '3', '1/f/f/0/0/644/me/\xff/', '1/f/f/0/0/64')
    expect(entries.map(({ name }) => name)).toEqual(['\udcff'])
    expect(total).toBe(3)
  })

  it('rejects anything else', () => {
    for (const text of ['', '%%%', btoa('hello'), btoa('/\0many\0')])
      expect(() => parseListing(text)).toThrow('listing')
  })
})

it('opens link targets but not devices', () => {
  const link = (type: 'd' | 'f' | 'N' | 'c') => entry({ type: 'l', target: { path: 'x', type } })
  expect(
    [link('d'), link('f'), link('N'), link('c'), entry({ type: 'd' }), entry({}), entry({ type: 'p' })].map(openTarget),
  ).toEqual(['folder', 'file', null, null, 'folder', 'file', null])
})

it('formats permissions like ls', () => {
  const words = (type: FolderEntry['type'], mode: string) => formatMode({ type, mode })
  expect([
    words('f', '644'),
    words('d', '1777'),
    words('f', '4755'),
    words('l', '777'),
    words('f', '2640'),
    words('f', '0'),
  ]).toEqual(['-rw-r--r--', 'drwxrwxrwt', '-rwsr-xr-x', 'lrwxrwxrwx', '-rw-r-S---', '----------'])
})

it('sorts folders first and numbers by value', () => {
  const entries = [
    entry({ name: 'a10', sizeBytes: 1, changedMs: 3 }),
    entry({ name: 'a9', sizeBytes: 5, changedMs: 2 }),
    entry({ name: 'z', type: 'd', changedMs: 1 }),
  ]
  const sorted = (column: 'name' | 'size' | 'changed', descending: boolean) =>
    sortEntries(entries, { column, descending }).map(({ name }) => name)
  expect(sorted('name', false)).toEqual(['z', 'a9', 'a10'])
  expect(sorted('name', true)).toEqual(['z', 'a10', 'a9'])
  expect(sorted('size', true)).toEqual(['z', 'a9', 'a10'])
  expect(sorted('changed', true)).toEqual(['z', 'a10', 'a9'])
})
