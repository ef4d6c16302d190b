import { describe, expect, it } from 'vitest'
import { signInPath } from './session.ts'

describe('the link to the sign-in page', () => {
  it('returns to the page without the parameters of Next', () => {
    expect(signInPath('/devboxes?status=running&_rsc=1abc')).toBe('/sign-in?next=%2Fdevboxes%3Fstatus%3Drunning')
    expect(signInPath('/axons?metadata[env]=prod')).toBe('/sign-in?next=%2Faxons%3Fmetadata%5Benv%5D%3Dprod')
  })

  it('omits useless and external return addresses', () => {
    for (const path of [
      '/',
      '/sign-in',
      '/sign-in?next=%2F',
      '//evil.example',
      '/\\evil.example',
      'https://evil.example/x',
      '',
    ])
      expect(signInPath(path), path).toBe('/sign-in')
  })
})
