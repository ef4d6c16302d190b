import { expect, it } from 'vitest'
import { contentRefusal, contentTypeText, guessContentType } from './state.tsx'

it.each([
  ['repo.tar.gz', 'tgz'],
  ['repo.TGZ', 'tgz'],
  ['disk.tar', 'tar'],
  ['dump.sql.gz', 'gzip'],
  ['notes.md', 'text'],
  ['model.bin', 'binary'],
  ['gz', 'binary'],
])('takes %s for %s', (name, type) => {
  expect(guessContentType(name)).toBe(type)
})

it('shows unknown types and states of other services', () => {
  expect(contentTypeText('zip')).toBe('zip')
  expect(contentRefusal({ state: 'ARCHIVED' })).toBeNull()
  expect(contentRefusal({ state: 'UPLOADING' })).toBe('the upload is not complete')
})
