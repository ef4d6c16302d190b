import { describe, expect, it } from 'vitest'
import { paths, safeNext } from './paths.ts'

describe('paths', () => {
  it('omit defaults and escape ids', () => {
    expect(paths.axons({ limit: 20, include_total_count: true })).toBe('/axons')
    expect(paths.axon('../devboxes?x=#')).toBe('/axons/..%2Fdevboxes%3Fx%3D%23')
  })

  it('locate a line of a file, and a folder', () => {
    expect(paths.devboxFile('dbx_1', '/srv/a b.ts', 12)).toBe('/devboxes/dbx_1/files?path=%2Fsrv&file=a%20b.ts&line=12')
    expect(paths.devboxFile('dbx_1', 'notes.md')).toBe('/devboxes/dbx_1/files?file=notes.md')
    expect(paths.devboxFile('dbx_1', '/etc/')).toBe('/devboxes/dbx_1/files?path=%2Fetc')
    expect(paths.devboxFile('dbx_1', '/passwd')).toBe('/devboxes/dbx_1/files?path=%2F&file=passwd')
    expect(paths.devboxFile('dbx_1', '~/a\\b')).toBe('/devboxes/dbx_1/files?path=~&file=a%5C%5Cb')
  })
})

it('locate a new terminal in a folder', () => {
  expect(paths.devboxTerminal('dbx_1', { cwd: '/srv/a b' })).toBe('/devboxes/dbx_1/terminal?cwd=%2Fsrv%2Fa%20b')
  expect(paths.devboxTerminal('dbx_1')).toBe('/devboxes/dbx_1/terminal')
})

describe('safeNext', () => {
  it('accepts pages of this console', () => {
    for (const next of ['/', '/axons?metadata[env]=prod', '/devboxes/dbx_1?tab=terminal', '/apiary', '/sign-inside'])
      expect(safeNext(next)).toBe(next)
  })

  it('rejects all other addresses', () => {
    const refused = [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '/\t/evil.example',
    ]
    refused.push('/\n/x', '/a\\b', '', 'axons', '/api/session', '/sign-in', '/sign-in?next=/x', '/sign-in/token')
    for (const next of refused) expect(safeNext(next)).toBe('/')
  })
})
