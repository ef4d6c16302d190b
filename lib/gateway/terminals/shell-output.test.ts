import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { OutputRing, ShellOutput } from './shell-output.ts'
import { until } from './testing.ts'
import { Viewer } from './viewer.ts'

const size = { cols: 80, rows: 24 }
let server: WebSocketServer
beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
})
afterEach(() => {
  for (const client of server.clients) client.terminate()
})
afterAll(() => server.close())

const pageAt = async (output: ShellOutput, scrollback = 1000) => {
  const page = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [socket] = (await once(server, 'connection')) as [WebSocket]
  const viewer = new Viewer(socket, {
    person: null,
    browser: 'A page',
    address: '127.0.0.1',
    client: undefined,
    signedIn: undefined,
    wantsToWatch: true,
    watchOnlyReason: null,
    size,
    epoch: undefined,
    since: undefined,
    scrollback,
    promisesAcks: true,
  })
  viewer.listen({
    input: () => undefined,
    request: () => undefined,
    behind: (scrollback) => output.showTo(viewer, scrollback),
    upstreamMs: () => null,
    left: () => undefined,
  })
  const snapshots: { offset: number; cols: number; bytes: Buffer; after: Buffer }[] = []
  let told: { offset: number; cols: number } | undefined
  page.on('message', (data: Buffer, isBinary) => {
    const notice = isBinary ? undefined : JSON.parse(String(data))
    if (notice?.t === 'snap') told = notice
    if (!isBinary) return
    page.send(JSON.stringify({ t: 'ack', n: data.length }))
    const last = snapshots.at(-1)
    if (told) snapshots.push({ offset: told.offset, cols: told.cols, bytes: data, after: Buffer.alloc(0) })
    else if (last) last.after = Buffer.concat([last.after, data])
    told = undefined
  })
  const print = (bytes: Buffer) => {
    viewer.output(bytes)
    output.add(bytes, () => undefined)
  }
  return { viewer, snapshots, print }
}
const ready = { t: 'ready', created: false, ...size, epoch: 'e', offset: 0, from: 'snapshot', role: 'watcher' } as const
const outputOf = () => new ShellOutput(size, { answer: () => undefined, failed: () => undefined })
/** Takes a while to parse. */
const colorful = Buffer.from('\x1b[31mred\x1b[0m and \x1b[32mgreen\x1b[0m\r\n'.repeat(10_000))

it('sends output printed during a snapshot right after it', async () => {
  const output = outputOf()
  const { viewer, snapshots, print } = await pageAt(output)
  print(colorful)
  viewer.begin(ready, undefined)
  print(Buffer.from('one '))
  print(Buffer.from('two '))
  await until(() => expect(snapshots).toHaveLength(1))
  print(Buffer.from('three'))
  await until(() => expect(snapshots[0]?.after.toString()).toBe('one two three'))
  expect(snapshots[0]?.offset).toBe(colorful.length)
  expect(snapshots[0]?.bytes.toString()).not.toContain('one')
  output.dispose()
})

it('limits the scrollback to what a page can hold', async () => {
  const output = outputOf()
  output.keep(10_000)
  const { viewer, snapshots } = await pageAt(output, 10_000)
  for (let i = 0; i < 10_000; i++)
    output.add(Buffer.from(`\x1b[1;3${i % 8}m${i} ${'long '.repeat(14)}\x1b[0m\r\n`), () => undefined)
  viewer.begin(ready, undefined)
  await until(() => expect(snapshots).toHaveLength(1))
  const { length } = snapshots[0]?.bytes ?? []
  expect(length).toBeGreaterThan(500_000)
  expect(length).toBeLessThan(900 * 1024)
  expect(snapshots[0]?.bytes.toString()).toContain('9999')
  output.dispose()
})

const kept = 512 * 1024
const bytes = (from: number, length: number) => Buffer.from(Array.from({ length }, (_, i) => ((from + i) * 31) % 251))

it('returns buffered output from any buffered offset, however it was chunked', () => {
  const ring = new OutputRing()
  ring.restart(1_000_000)
  const sizes = [1, 0, 7, 65_536, 3, 200_000, 1, kept, 10, 300_000, 5, 255, kept - 1, 2]
  for (const size of sizes) {
    const { end } = ring
    ring.add(bytes(end, size))
    expect(ring.end).toBe(end + size)
    const oldest = Math.max(1_000_000, ring.end - kept)
    for (const from of [
      oldest,
      Math.floor((oldest + ring.end) / 2),
      ring.end - Math.min(1, ring.end - oldest),
      ring.end,
    ])
      expect(ring.from(from)?.equals(bytes(from, ring.end - from)), `${from} of ${ring.end}`).toBe(true)
    expect(ring.from(oldest - 1)).toBeUndefined()
    expect(ring.from(ring.end + 1)).toBeUndefined()
  }
})
