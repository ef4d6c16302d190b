import { describe, expect, it } from 'vitest'
import { paths, safeNext } from './paths.ts'

describe('paths', () => {
  it('omit defaults', () => {
    expect(paths.axons({ limit: 20, include_total_count: true })).toBe('/axons')
    expect(paths.devbox('dbx_1')).toBe('/devboxes/dbx_1')
  })

  it('spell a query as the service reads it', () => {
    const metadata = [{ key: 'env', op: 'in' as const, values: ['staging', 'prod'] }]
    expect(paths.axons({ search: 'a&b', limit: 50, metadata })).toBe(
      '/axons?search=a%26b&limit=50&metadata[env][in]=prod,staging',
    )
  })

  it('cannot be led astray by an id', () => {
    expect(paths.axon('../devboxes?x=#')).toBe('/axons/..%2Fdevboxes%3Fx%3D%23')
  })

  it('carry the page to return to', () => {
    expect(paths.signIn('/axons?search=a')).toBe('/sign-in?next=%2Faxons%3Fsearch%3Da')
    expect(paths.signIn()).toBe('/sign-in')
  })
})

describe('safeNext', () => {
  it('accepts pages of this console', () => {
    for (const next of ['/', '/axons?metadata[env]=prod', '/devboxes/dbx_1?tab=terminal', '/apiary', '/sign-inside'])
      expect(safeNext(next)).toBe(next)
  })

  it('goes nowhere else', () => {
    const refused = [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '/\t/evil.example',
      '/\n/x',
      '/a\\b',
      '',
      'axons',
      '/api/session',
      '/sign-in',
      '/sign-in?next=/x',
      '/sign-in/token',
      null,
      undefined,
    ]
    for (const next of refused) expect(safeNext(next)).toBe('/')
  })
})
