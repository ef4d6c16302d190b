import { expect, it, vi } from 'vitest'
import { fileExists, pathIn } from './upload.ts'

it('joins paths as the service resolves them', () => {
  expect(pathIn('/tmp', 'a')).toBe('/tmp/a')
  expect(pathIn('/tmp//', 'a')).toBe('/tmp/a')
  expect(pathIn('/', 'a')).toBe('/a')
  expect(pathIn('~', 'a')).toBe('~/a')
  expect(pathIn('src', 'a')).toBe('src/a')
  expect(pathIn(' ', 'a')).toBe('a')
  expect(pathIn('.', 'a')).toBe('a')
  expect(pathIn('', '~root')).toBe('./~root')
})

it('rejects rather than reporting a file as absent on a transient error', async () => {
  const fetch = vi.spyOn(globalThis, 'fetch')
  const exists = (status: number, code: string) => {
    fetch.mockImplementation(async () => Response.json({ code, message: 'so' }, { status }))
    return fileExists('dbx_1', 'notes.txt')
  }
  expect(await exists(200, '')).toBe(true)
  expect(await exists(404, 'not_found')).toBe(false)
  // Some services use another code for a missing file.
  expect(await exists(400, 'failed_precondition')).toBe(false)
  await expect(exists(429, 'rate_limited')).rejects.toMatchObject({ status: 429 })
  await expect(exists(503, 'unavailable')).rejects.toMatchObject({ status: 503 })
  fetch.mockRestore()
})
