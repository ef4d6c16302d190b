import { describe, expect, it } from 'vitest'
import { paths, safeNext } from './paths.ts'

describe('paths', () => {
  it('omit defaults and escape ids', () => {
    expect(paths.axons({ limit: 20, include_total_count: true })).toBe('/axons')
    expect(paths.axon('../devboxes?x=#')).toBe('/axons/..%2Fdevboxes%3Fx%3D%23')
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
    ]
    refused.push('/\n/x', '/a\\b', '', 'axons', '/api/session', '/sign-in', '/sign-in?next=/x', '/sign-in/token')
    for (const next of refused) expect(safeNext(next)).toBe('/')
  })
})
