import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer } from '../testing.ts'
import { precompressedFiles } from './precompressed-files.ts'

const script = 'console.log("ä")\n'.repeat(100)
const folder = mkdtempSync(join(tmpdir(), 'devdeck-packed-'))
let server: Awaited<ReturnType<typeof startServer>>
beforeAll(async () => {
  mkdirSync(join(folder, 'chunks'))
  writeFileSync(join(folder, 'chunks/a.js'), brotliCompressSync(script))
  const serve = precompressedFiles(folder)
  server = await startServer((request, response) => serve(request, response) || response.end('of Next'))
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})
const get = (path: string, encodings: string) => fetch(server.url + path, { headers: { 'accept-encoding': encodings } })

it('is sent compressed and cacheable forever', async () => {
  const response = await get('/_next/static/chunks/a.js?v=1', 'gzip, deflate, br, zstd')
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-encoding': 'br',
    'content-type': 'application/javascript; charset=UTF-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  })
  expect(await response.text()).toBe(script)
})

it.each([
  ['a client without brotli', '/_next/static/chunks/a.js', 'gzip'],
  ['another file', '/_next/static/chunks/b.js', 'br'],
  ['a path traversal', '/_next/static/chunks/../chunks/%2e%2e/a.js', 'br'],
  ['a page', '/devboxes', 'br'],
])('is left to Next for %s', async (_, path, encodings) => {
  expect(await (await get(path, encodings)).text()).toBe('of Next')
})
