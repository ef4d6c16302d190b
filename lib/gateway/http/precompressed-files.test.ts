import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { precompressedFiles } from './precompressed-files.ts'

const script = 'console.log("ä")\n'.repeat(100)

describe('a precompressed file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-packed-'))
  let url = ''
  const server = createServer((request, response) => {
    if (!answer(request, response)) response.end('of Next')
  })
  let answer: ReturnType<typeof precompressedFiles>
  beforeAll(async () => {
    mkdirSync(join(folder, 'chunks'))
    writeFileSync(join(folder, 'chunks/a.js'), brotliCompressSync(script))
    answer = precompressedFiles(folder)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  })
  afterAll(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  const get = (path: string, encodings: string, method = 'GET') =>
    fetch(url + path, { method, headers: { 'accept-encoding': encodings } })

  it('is sent compressed and cacheable forever', async () => {
    const response = await get('/_next/static/chunks/a.js?v=1', 'gzip, deflate, br, zstd')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-encoding': 'br',
      'content-type': 'application/javascript; charset=UTF-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    })
    expect(await response.text()).toBe(script)
    const head = await get('/_next/static/chunks/a.js', 'br', 'HEAD')
    expect([head.headers.get('content-encoding'), await head.text()]).toEqual(['br', ''])
  })

  it.each([
    ['a client without brotli', '/_next/static/chunks/a.js', 'gzip'],
    ['a client that rejects brotli', '/_next/static/chunks/a.js', 'gzip, br;q=0'],
    ['another file', '/_next/static/chunks/b.js', 'br'],
    ['a path traversal', '/_next/static/chunks/../chunks/%2e%2e/a.js', 'br'],
    ['a page', '/devboxes', 'br'],
  ])('is left to Next for %s', async (_, path, encodings) => {
    expect(await (await get(path, encodings)).text()).toBe('of Next')
  })

  it('is not served without a build', () => {
    expect(precompressedFiles(join(folder, 'nothing'))).toBeTypeOf('function')
  })
})
