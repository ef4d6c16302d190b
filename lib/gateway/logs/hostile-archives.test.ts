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
let downloads: string[]
const http = createServer(async (request, response) => {
  for await (const _ of request);
  if (!request.url?.endsWith('/download_logs')) {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"axons":[],"has_more":false}')
    return
  }
  downloads.push(`${request.method} ${request.url} ${request.headers.range}`)
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
  downloads = []
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

/** Responds like an object store, with ranges of one version. */
const inParts =
  (zip: Buffer, version = '"v1"'): Answer =>
  ({ headers }, response) => {
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
    const isIt = headers['if-range'] === undefined || headers['if-range'] === version
    if (from === undefined || !isIt) return whole(zip)({ headers } as IncomingMessage, response)
    const end = to ? Number(to) + 1 : zip.length
    response
      .writeHead(206, {
        'content-type': 'application/zip',
        etag: version,
        'content-range': `bytes ${from}-${end - 1}/${zip.length}`,
      })
      .end(zip.subarray(Number(from), end))
  }

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
    expect(archive?.left_out.first.at(-1)).toEqual({ name: 'good/file.log', reason: 'another entry has its name' })
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
    expect(downloads).toHaveLength(1)
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
  it('that is invalid or truncated is rejected and reread the next time', async () => {
    download = whole(Buffer.from('PK\x03\x04 and no end'))
    await refused(await get('bmr_1/logs'), 502, 'bad_upstream', /invalid zip archive/)
    download = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/zip', 'content-length': '1000' })
      response.write(Buffer.alloc(100), () => response.destroy())
    }
    await refused(await get('bmr_1/logs'), 502, 'bad_upstream', /cut off after \d+ bytes/)
    download = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/zip' })
      response.write(Buffer.alloc(100), () => response.destroy())
    }
    await refused(await get('bmr_1/logs'), 502, 'bad_upstream', /cut off after \d+ bytes/)
    download = (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
    await refused(await get('bmr_1/logs'), 502, 'bad_upstream', /text\/html instead of a zip/)
    download = (_, response) => response.writeHead(302, { location: 'http://example.com/' }).end()
    await refused(await get('bmr_1/logs'), 502, 'bad_upstream', /answered 302/)
    download = (_, response) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"code":"not_found","message":"no run"}')
    await refused(await get('bmr_1/logs'), 404, 'not_found', /no run/)
    download = whole(rawZip([{ name: 'a' }]))
    expect((await list()).archive?.files).toHaveLength(1)
  })

  it('whose directory claims too many entries is rejected', async () => {
    download = whole(rawZip([{ name: 'a' }], { count: 60_000 }))
    await refused(await get('bmr_1/logs'), 502, 'bad_upstream', /invalid zip archive/)
  })

  it('is read in ranges where the service supports them', async () => {
    const noise = crypto.getRandomValues(new Uint8Array(65_536))
    const large = Buffer.concat(Array.from({ length: 40 }, (_, i) => Buffer.concat([Buffer.from([i]), noise])))
    const zip = rawZip([{ name: 'large', content: large }, { name: 'small' }])
    let sent = 0
    download = (request, response) => {
      if (request.headers.range !== 'bytes=0-') sent += 1
      inParts(zip)(request, response)
    }
    expect((await list()).archive?.size_bytes).toBe(zip.length)
    expect(await (await part('small')).text()).toBe('small')
    const answer = await part('large', 'bytes=1000-1999')
    expect(answer.headers.get('content-range')).toBe(`bytes 1000-1999/${large.length}`)
    expect(Buffer.from(await answer.arrayBuffer()).equals(large.subarray(1000, 2000))).toBe(true)
    expect(sent).toBe(downloads.length - 1)
    expect(new Set(downloads.map((each) => each.split(' ')[0]))).toEqual(new Set(['POST']))
    // Another archive at the same URL: ranges of two versions must not be mixed.
    download = inParts(zip, '"v2"')
    await refused(await part('large', 'bytes=0-'), 409, 'conflict', /has changed/)
    // The next request reads the new one.
    expect(await (await part('small')).text()).toBe('small')
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
  const ask = (zip: Buffer) => async () => new Response(zip as Buffer<ArrayBuffer>)
  const noise = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)))

  it('rejects an archive that is too large, and drops the oldest for a new one', async () => {
    const cache = new ArchiveCache({ ...cacheLimits, archiveBytes: 20_000, cacheBytes: 30_000 })
    const zip = (bytes: number) => rawZip([{ name: 'a', content: noise(bytes) }])
    await expect(cache.look('large', ask(zip(30_000)), { waitMs: 60_000 })).rejects.toMatchObject({
      code: 'payload_too_large',
    })
    let reads = 0
    const counted = (content: Buffer) => () => {
      reads++
      return ask(content)()
    }
    for (const key of ['a', 'b', 'a', 'b']) await cache.look(key, counted(zip(12_000)), { waitMs: 60_000 })
    expect(reads).toBe(2)
    await cache.look('c', counted(zip(12_000)), { waitMs: 60_000 })
    await cache.look('b', counted(zip(12_000)), { waitMs: 60_000 })
    expect(reads).toBe(3)
    await cache.look('a', counted(zip(12_000)), { waitMs: 60_000 })
    expect(reads).toBe(4)
    cache.close()
  })

  it('limits the listed entries and reports it', async () => {
    const cache = new ArchiveCache({ ...cacheLimits, entries: 3 })
    const zip = rawZip(Array.from({ length: 10 }, (_, i) => ({ name: `file ${i}` })))
    const { opened } = await cache.look('a', ask(zip), { waitMs: 60_000 })
    expect(opened?.files.files).toHaveLength(3)
    expect(opened?.files.leftOut).toEqual({
      count: 7,
      first: [{ name: '…', reason: 'the console lists no more than 3 entries' }],
    })
    cache.close()
  })

  it('reports progress, stops when nobody waits, and rereads only on request', async () => {
    const cache = new ArchiveCache({ ...cacheLimits, givenUpMs: 0, anewMs: 0 })
    let given: AbortSignal | undefined
    const endless = async (_: string, signal: AbortSignal) => {
      given = signal
      return new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(Buffer.alloc(100))
            signal.addEventListener('abort', () => controller.error(signal.reason))
          },
        }),
      )
    }
    const look = async () => {
      const { opened, reading } = await cache.look('a', endless, { waitMs: 100 })
      return [opened, reading?.receivedBytes]
    }
    await expect.poll(look).toEqual([undefined, 100])
    await expect.poll(() => given?.aborted).toBe(true)
    const first = await cache.look('b', ask(rawZip([{ name: 'a' }])), { waitMs: 60_000 })
    const newer = { newerThanMs: first.opened?.readAtMs ?? 0, waitMs: 60_000 }
    await expect
      .poll(async () => (await cache.look('b', ask(rawZip([{ name: 'b' }])), newer)).opened?.files.files[0]?.path)
      .toBe('b')
    // Rereads at the end of the run, since an earlier archive lacks its last output.
    const patient = new ArchiveCache({ ...cacheLimits, anewMs: 60_000 })
    const read = (name: string, hasEnded: boolean) =>
      patient.look('c', ask(rawZip([{ name }])), { hasEnded, newerThanMs: Number.MAX_SAFE_INTEGER, waitMs: 60_000 })
    const paths: (string | undefined)[] = []
    for (const [name, hasEnded] of [
      ['1', false],
      ['2', false],
      ['3', true],
      ['4', true],
    ] as const)
      paths.push((await read(name, hasEnded)).opened?.files.files[0]?.path)
    expect(paths).toEqual(['1', '1', '3', '3'])
    patient.close()
    cache.close()
  })
})
