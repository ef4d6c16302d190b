import { describe, expect, it } from 'vitest'
import { meetsConstraint } from './version-constraint.ts'

describe('a version constraint', () => {
  it.each([
    ['3.12.10', '==3.12.10', true],
    ['3.12', '==3.12.0', true],
    ['3.12.4', '==3.12.*', true],
    ['3.13.0', '==3.12.*', false],
    ['3.9.2', '>=3.10', false],
    ['3.10.0', '>= 3.10 , < 4', true],
    ['3.11.9', '~=3.11.2', true],
    ['3.12.0', '~=3.11.2', false],
    ['3.12.0', '~=3.11', true],
    ['3.11.2', '!=3.11.2', false],
    ['3.11.2', '!=3.11.*', false],
    ['3.13.0rc1', '>=3.13', true],
    ['3.11.2', '', true],
  ])('%s meets %j: %s', (version, constraint, expected) => {
    expect(meetsConstraint(version, constraint)).toBe(expected)
  })

  it.each(['latest', '>3.x', '>=3.*', '3.12', '==3.12; rm'])('rejects %j', (constraint) => {
    expect(meetsConstraint('3.12.0', constraint)).toBeUndefined()
  })
})
