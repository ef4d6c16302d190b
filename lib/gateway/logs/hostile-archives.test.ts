import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { maxPieceBytes, type RunLogs } from '#lib/protocol/run-logs.ts'
import { closeSlots } from '../registry/registry.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { ArchiveCache, cacheLimits } from './archive-cache.ts'
import { rawZip } from './testing.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A fake service. */
let download: Answer
let downloads: number
const http = createServer(async (request, response) => {
  for await (const _ of request);
  if (!request.url?.endsWith('/download_logs')) {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"axons":[],"has_more":false}')
    return
  }
  downloads++
  download(request, response)
})

let gateway: TestConsole
let cookie: string
beforeAll(async () => {
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  gateway = await startConsole({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` })
  cookie = await gateway.signIn('ak_other')
})
beforeEach(() => {
  downloads = 0
})
afterEach(() => {
  closeSlots()
})
afterAll(async () => {
  await gateway.close()
  http.closeAllConnections()
  http.close()
})

const whole =
  (zip: Buffer): Answer =>
  (_, response) =>
    response.writeHead(200, { 'content-type': 'application/zip' }).end(zip)

const get = (path: string, init: RequestInit = {}) => gateway.fetch(`/api/benchmark-runs/${path}`, { cookie, ...init })
const list = async (): Promise<RunLogs> => (await get('bmr_1/logs')).json()
const part = (path: string, range = 'bytes=0-') =>
  get(`bmr_1/logs/file?${new URLSearchParams({ path })}`, { headers: { range } })

const refused = async (answer: Response, status: number, code: string, message: RegExp) => {
  const body = await answer.json()
  expect([answer.status, body.code]).toEqual([status, code])
  expect(body.message).toMatch(message)
}

describe('names', () => {
  it('with path traversal or without a name are counted and skipped', async () => {
    download = whole(
      rawZip([
        { name: 'good/file.log' },
        { name: '../up' },
        { name: 'a/../../up' },
        { name: '/etc/passwd' },
        { name: 'C:/windows' },
        { name: 'a\\b' },
        { name: 'a\u0000b' },
        { name: 'a//b' },
        { name: './a' },
        { name: '' },
        { name: 'x'.repeat(2_000) },
        { name: 'folder/', content: Buffer.alloc(0) },
        { name: 'link', claims: { mode: 0o120777 } },
        { name: 'good/file.log', content: Buffer.from('another') },
        { name: 'ünï <img src=x onerror=1>\u202e.log' },
      ]),
    )
    const { archive } = await list()
    expect(archive?.files.map(({ path }) => path)).toEqual(['good/file.log', 'ünï <img src=x onerror=1>\u202e.log'])
    expect(archive?.left_out.count).toBe(12)
    expect(archive?.left_out.first).toContainEqual({ name: '../up', reason: 'its path leaves the archive' })
    expect(archive?.left_out.first).toContainEqual({ name: 'link', reason: 'it is a link or a device, not a file' })
    expect(archive?.left_out.first.at(-1)).toEqual({ name: 'good/file.log', reason: 'another entry has the same name' })
    expect(await (await part('good/file.log')).text()).toBe('good/file.log')
    await refused(await part('../up'), 404, 'not_found', /no file \.\.\/up/)
    await refused(await part('/etc/passwd'), 404, 'not_found', /no file/)
    expect(await (await part('ünï <img src=x onerror=1>\u202e.log')).text()).toContain('<img')
  })
})

describe('a file that does not match its directory entry', () => {
  const zeros = Buffer.alloc(8 * 1024 * 1024)
  const zip = rawZip([
    { name: 'larger', content: zeros, claims: { size: 10 } },
    { name: 'smaller', content: Buffer.from('abc'), claims: { size: 1000 } },
    { name: 'damaged', content: Buffer.from('abc'), claims: { sum: 1 } },
    { name: 'bomb', content: zeros, claims: { size: 0xfffffffe } },
    { name: 'locked', claims: { flags: 1 } },
    { name: 'odd', claims: { method: 99 } },
    { name: 'beyond', claims: { packed: 1_000_000 } },
    { name: 'nowhere', claims: { at: 0x7fffffff } },
    { name: 'fine', content: Buffer.from('fine') },
  ])

  it.each([
    ['larger', 502, 'bad_upstream', /cannot be unpacked/],
    ['smaller', 502, 'bad_upstream', /cannot be unpacked/],
    ['damaged', 502, 'bad_upstream', /sum/],
    ['bomb', 413, 'payload_too_large', /4294967294 bytes unpacked; the console unpacks files of up to 268435456/],
    ['locked', 501, 'not_implemented', /encrypted/],
    ['odd', 501, 'not_implemented', /method 99/],
    ['beyond', 502, 'bad_upstream', /cannot be unpacked/],
    ['nowhere', 502, 'bad_upstream', /cannot be unpacked/],
  ])('%s is rejected, and the others open', async (path, status, code, message) => {
    download = whole(zip)
    await refused(await part(path), status, code, message)
    expect(await (await part('fine')).text()).toBe('fine')
    expect(downloads).toBe(1)
  })

  it('truncates a damaged file, so that it does not look complete', async () => {
    download = whole(zip)
    const answer = await get('bmr_1/logs/file?path=damaged')
    expect(answer.status).toBe(200)
    await expect(answer.arrayBuffer()).rejects.toThrow()
    await refused(await get('bmr_1/logs/file?path=bomb'), 413, 'payload_too_large', /bytes unpacked/)
  })
})

describe('an archive', () => {
  const cutOff =
    (headers: Record<string, string>): Answer =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/zip', ...headers })
      response.write(Buffer.alloc(100), () => response.destroy())
    }
  const answer =
    (status: number, headers: Record<string, string>, body = ''): Answer =>
    (_, response) =>
      response.writeHead(status, headers).end(body)

  it.each<[string, Answer, number, string, RegExp]>([
    ['not a zip', whole(Buffer.from('PK\x03\x04 and no end')), 502, 'bad_upstream', /invalid zip archive/],
    ['cut off', cutOff({ 'content-length': '1000' }), 502, 'bad_upstream', /cut off after \d+ bytes/],
    ['cut off without a length', cutOff({}), 502, 'bad_upstream', /cut off after \d+ bytes/],
    ['HTML', answer(200, { 'content-type': 'text/html' }, '<p>'), 502, 'bad_upstream', /text\/html instead of a zip/],
    ['a redirect', answer(302, { location: 'http://example.com/' }), 502, 'bad_upstream', /returned 302/],
    [
      'missing',
      answer(404, { 'content-type': 'application/json' }, '{"code":"not_found","message":"no run"}'),
      404,
      'not_found',
      /no run/,
    ],
    ['of too many entries', whole(rawZip([{ name: 'a' }], { count: 60_000 })), 502, 'bad_upstream', /invalid zip/],
  ])('that is %s is rejected and reread the next time', async (_, response, status, code, message) => {
    download = response
    await refused(await get('bmr_1/logs'), status, code, message)
    download = whole(rawZip([{ name: 'a' }]))
    expect((await list()).archive?.files).toHaveLength(1)
  })
})

it('limits the length of a range and rejects ranges outside the file', async () => {
  const text = Buffer.alloc(maxPieceBytes + 10, 'line\n')
  download = whole(
    rawZip([
      { name: 'long', content: text },
      { name: 'empty', content: Buffer.alloc(0) },
    ]),
  )
  const first = await part('long')
  expect(first.status).toBe(206)
  expect(first.headers.get('content-range')).toBe(`bytes 0-${maxPieceBytes - 1}/${text.length}`)
  const rest = await part('long', `bytes=${maxPieceBytes}-`)
  expect(await rest.text()).toBe(text.subarray(maxPieceBytes).toString())
  for (const range of ['bytes=99999999-', 'bytes=-5', 'bytes=5-2', 'lines=1-2'])
    await refused(await part('long', range), 400, 'invalid_argument', /within the/)
  expect((await part('empty')).status).toBe(200)
  const changed = await get('bmr_1/logs/file?path=long&version=0-0', { headers: { range: 'bytes=0-' } })
  await refused(changed, 409, 'conflict', /has changed/)
})

describe('the cache', () => {
  const send = (zip: Buffer) => async () => new Response(zip as Buffer<ArrayBuffer>)
  const waitMs = 60_000

  it('rejects an archive that is too large, and drops the oldest for a new one', async () => {
    const cache = new ArchiveCache({ ...cacheLimits, archiveBytes: 20_000, cacheBytes: 30_000 })
    const zip = (bytes: number) =>
      rawZip([{ name: 'a', content: Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))) }])
    const tooLarge = cache.look('large', send(zip(30_000)), { waitMs })
    await expect(tooLarge).rejects.toMatchObject({ code: 'payload_too_large' })
    const reads: string[] = []
    const look = (key: string) =>
      cache.look(
        key,
        () => {
          reads.push(key)
          return send(zip(12_000))()
        },
        { waitMs },
      )
    for (const key of ['a', 'b', 'a', 'b', 'c', 'b', 'a']) await look(key)
    expect(reads).toEqual(['a', 'b', 'c', 'a'])
    cache.close()
  })

  it('limits the listed entries and reports it', async () => {
    const cache = new ArchiveCache({ ...cacheLimits, entries: 3 })
    const zip = rawZip(Array.from({ length: 10 }, (_, i) => ({ name: `file ${i}` })))
    const { opened } = await cache.look('a', send(zip), { waitMs })
    expect(opened?.files.files).toHaveLength(3)
    expect(opened?.files.leftOut).toEqual({
      count: 7,
      first: [{ name: '…', reason: 'the console lists no more than 3 entries' }],
    })
    cache.close()
  })

  it('reports progress and times out', async () => {
    const cache = new ArchiveCache({ ...cacheLimits, readMs: 200 })
    const endless = async (signal: AbortSignal) =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(Buffer.alloc(100))
            signal.addEventListener('abort', () => controller.error(signal.reason))
          },
        }),
      )
    const { opened, reading } = await cache.look('a', endless, { waitMs: 50 })
    expect([opened, reading?.receivedBytes]).toEqual([undefined, 100])
    await expect(cache.look('a', endless, { waitMs })).rejects.toMatchObject({ code: 'timeout' })
    cache.close()
  })

  it('rereads only at the end of the run while the archive is young', async () => {
    const cache = new ArchiveCache({ ...cacheLimits, minAgeMs: 60_000 })
    const paths: (string | undefined)[] = []
    for (const [name, hasEnded] of [
      ['1', false],
      ['2', false],
      ['3', true],
      ['4', true],
    ] as const) {
      const how = { hasEnded, newerThanMs: Number.MAX_SAFE_INTEGER, waitMs }
      paths.push((await cache.look('c', send(rawZip([{ name }])), how)).opened?.files.files[0]?.path)
    }
    expect(paths).toEqual(['1', '1', '3', '3'])
    cache.close()
  })
})
