import { describe, expect, it } from 'vitest'
import { signInPath } from './session.ts'

describe('the way to the sign-in page', () => {
  it('remembers where it came from, without what Next adds', () => {
    expect(signInPath('/devboxes?status=running&_rsc=1abc')).toBe('/sign-in?next=%2Fdevboxes%3Fstatus%3Drunning')
    expect(signInPath('/axons?metadata[env]=prod')).toBe('/sign-in?next=%2Faxons%3Fmetadata%5Benv%5D%3Dprod')
  })

  it('leaves out what is no use to go back to, and what would leave the console', () => {
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
