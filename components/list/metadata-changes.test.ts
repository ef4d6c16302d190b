import { expect, it } from 'vitest'
import { metadataChanges } from './metadata-changes.tsx'

it('lists added, removed and changed keys', () => {
  expect(metadataChanges({ a: '1', b: '2', c: '3' }, { b: '2', c: '4', d: '' })).toEqual([
    { kind: 'removed', key: 'a', before: '1' },
    { kind: 'changed', key: 'c', before: '3', after: '4' },
    { kind: 'added', key: 'd', after: '' },
  ])
})

it('handles keys that every object has', () => {
  const hostile = JSON.parse('{"__proto__":"x"}')
  expect(metadataChanges({}, hostile)).toEqual([{ kind: 'added', key: '__proto__', after: 'x' }])
  expect(metadataChanges({ constructor: 'a' }, {})).toEqual([{ kind: 'removed', key: 'constructor', before: 'a' }])
  expect(metadataChanges(hostile, hostile)).toEqual([])
})
