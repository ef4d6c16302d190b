import { describe, expect, it } from 'vitest'
import { pathIn } from './upload.ts'

describe('pathIn', () => {
  it('puts a name in a folder, as the service reads paths', () => {
    expect(pathIn('/tmp', 'a')).toBe('/tmp/a')
    expect(pathIn('/tmp//', 'a')).toBe('/tmp/a')
    expect(pathIn('/', 'a')).toBe('/a')
    expect(pathIn('~', 'a')).toBe('~/a')
    expect(pathIn('src', 'a')).toBe('src/a')
    expect(pathIn(' ', 'a')).toBe('a')
    expect(pathIn('.', 'a')).toBe('a')
    expect(pathIn('', '~root')).toBe('./~root')
  })
})
