import { describe, expect, it, vi } from 'vitest'
import { fileExists, pathIn } from './upload.ts'

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

it('takes no file for absent that the service did not tell of', async () => {
  const answer = vi.spyOn(globalThis, 'fetch')
  const exists = (status: number, code: string) => {
    answer.mockImplementation(async () => Response.json({ code, message: 'so' }, { status }))
    return fileExists('dbx_1', 'notes.txt')
  }
  expect(await exists(200, '')).toBe(true)
  expect(await exists(404, 'not_found')).toBe(false)
  // Of a service that has another answer for what is not there.
  expect(await exists(400, 'failed_precondition')).toBe(false)
  await expect(exists(429, 'rate_limited')).rejects.toMatchObject({ status: 429 })
  await expect(exists(503, 'unavailable')).rejects.toMatchObject({ status: 503 })
  answer.mockRestore()
})
