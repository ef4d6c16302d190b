import { expect, it } from 'vitest'
import { EditConflictError, flattenDescription, throwIfChanged } from './edit-conflict.ts'

it('ignores key order and empty fields', () => {
  const base = { name: 'a', commit_message: null, metadata: { x: '1', y: '2' } }
  expect(() => throwIfChanged(base, { name: 'a', commit_message: '', metadata: { y: '2', x: '1' } })).not.toThrow()
  for (const change of [{ name: 'b' }, { commit_message: 'm' }, { metadata: { x: '1' } }])
    expect(() => throwIfChanged(base, { ...base, ...change })).toThrow(EditConflictError)
})

it('flattens all fields into one map', () => {
  expect(flattenDescription({ name: 'a', metadata: { name: 'x' } })).toEqual({ name: 'a', 'metadata.name': 'x' })
})
