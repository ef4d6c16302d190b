import { fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fdatasync, openSync, rmSync, writeSync } from 'node:fs'
import { Agent, createServer, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startService, type TestService } from '#lib/service/testing/service.ts'

/**
 * Axon events over HTTP/1.1, from a publisher to subscribers in another process. The payload contains the publish time,
 * so all times are of one clock.
 */

/** Events not counted, while both processes are still compiling. */
const warmUp = 100
const counted = 1_000

export const benchAxonEvents = async () => {
  const service = await startService({ isolation: 'none', validateResponses: false })
  try {
    console.log('axon events from a publisher to subscribers in another process, over HTTP/1.1')
    await benchLatency(service)
    for (const restarts of [0, 1]) await benchDelivery(service, restarts)
  } finally {
    await service.close()
  }
}

/** An axon of the service, or the server it is compared with. */
interface Channel {
  url: string
  key: string
  publish: string
  subscribe: string
}

interface Order {
  lines: Channel[]
  subscribers: number
  /** Sent over every line in turn. */
  events: number
  pauseMs: number
  /** Reports when half done, and waits to be resumed. */
  pauses: boolean
}

interface Heard {
  deliveries: number
  lost: number
  repeated: number
  /** From publish to each subscriber. */
  delivery: number[]
  /** From publish to its response. */
  answer: number[]
}

/** One hundred subscribers of the service, alternating with those of a server that only forwards bytes. */
const benchLatency = async (service: TestService) => {
  const subscribers = 100
  const syncs = await syncTimes(service.dataDir)
  const bare = await startBareServer()
  try {
    const line = lineTo(service, (await service.client.axons.create()).id)
    const events = warmUp + counted
    const [ours, theirs] = await run({ lines: [line, bare.line], subscribers, events, pauseMs: 5, pauses: false })
    if (!ours || !theirs) throw new Error('The subscribers received nothing')
    const late = ({ delivery }: Heard) => delivery.slice(warmUp * subscribers)
    const early = ({ delivery }: Heard) => delivery.slice(0, warmUp * subscribers)
    const bound = 2 * at(late(theirs), 0.99) + at(syncs, 0.99)
    console.log(
      `  ${subscribers} subscribers, ${counted} events: ${quantiles(late(ours))}; lost ${ours.lost}, repeated ${ours.repeated}`,
    )
    console.log(`    server that only forwards bytes, alternating: ${quantiles(late(theirs))}`)
    console.log(`    fdatasync of this disk: ${quantiles(syncs)}`)
    console.log(
      `    p99 / (2 x p99 of that server + p99 of fdatasync) = ${(at(late(ours), 0.99) / bound).toFixed(2)}, goal 1`,
    )
    console.log(
      `    the ${warmUp} events before, while the code is still being compiled: ${quantiles(early(ours))}; of the other ${quantiles(early(theirs))}`,
    )
    console.log(`    acknowledged: ${quantiles(ours.answer.slice(warmUp))}`)
  } finally {
    bare.close()
  }
}

/** Time to sync one event to disk. */
const syncTimes = async (folder: string): Promise<number[]> => {
  const file = join(folder, 'bench')
  const handle = openSync(file, 'w', 0o600)
  const times: number[] = []
  for (let i = 0; i < 200; i++) {
    writeSync(handle, Buffer.alloc(8_192, i), 0, 8_192, i * 8_192)
    const start = performance.now()
    await promisify(fdatasync)(handle)
    times.push(performance.now() - start)
    await pause(5)
  }
  closeSync(handle)
  rmSync(file)
  return times
}

const benchDelivery = async (service: TestService, restarts: number) => {
  const [subscribers, events] = [1_000, 100]
  const line = lineTo(service, (await service.client.axons.create()).id)
  const order = { lines: [line], subscribers, events, pauseMs: 20, pauses: restarts > 0 }
  const [received] = await run(order, () => service.restart())
  if (!received) throw new Error('The subscribers received nothing')
  console.log(
    `  ${subscribers} subscribers, ${received.deliveries} deliveries${restarts > 0 ? ', through a restart' : ''}: lost ${received.lost}, repeated ${received.repeated}; ${quantiles(received.delivery)}`,
  )
}

const lineTo = ({ url, key }: TestService, id: string): Channel => ({
  url,
  key,
  publish: `/v1/axons/${id}/publish`,
  subscribe: `/v1/axons/${id}/subscribe/sse?after_sequence=`,
})

/** Runs the order in another process, and `between` while that pauses. */
const run = async (order: Order, between?: () => Promise<void>): Promise<Heard[]> => {
  const listeners = fork(fileURLToPath(import.meta.url), ['listen'], { execArgv: [] })
  try {
    listeners.send(order)
    if (order.pauses) {
      await once(listeners, 'message')
      await between?.()
      listeners.send('go on')
    }
    const [received] = await once(listeners, 'message')
    return received as Heard[]
  } finally {
    listeners.kill()
  }
}

/** The floor: one write per subscriber, and no disk. */
const startBareServer = async () => {
  const listening = new Set<ServerResponse>()
  let sequence = 0
  const server = createServer(async (incoming, response) => {
    if (incoming.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
      listening.add(response)
      response.once('close', () => listening.delete(response))
      return
    }
    let body = ''
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk
    const fields = { axon_id: 'axn_0123456789abcdef0123456789', sequence: ++sequence, timestamp_ms: Date.now() }
    const event = Buffer.from(`data: ${JSON.stringify({ ...fields, ...JSON.parse(body) })}\n\n`)
    for (const each of listening) each.write(event)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ sequence }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const line: Channel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: '',
    publish: '/',
    subscribe: '/?after=',
  }
  return { line, close: () => server.close() && server.closeAllConnections() }
}

const at = (values: number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN

const quantiles = (values: number[]) =>
  `p50 ${at(values, 0.5).toFixed(1)} p90 ${at(values, 0.9).toFixed(1)} p99 ${at(values, 0.99).toFixed(1)} max ${at(values, 1).toFixed(1)} ms`

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Runs in the subscriber process until every subscriber has every event. */
const listen = async ({ lines, subscribers, events, pauseMs, pauses }: Order) => {
  const all = lines.map((line) => new Listeners(line, subscribers, events))
  await Promise.all(all.map(({ ready }) => ready))
  for (let i = 0; i < events; i++) {
    if (pauses && i === events / 2) {
      const goOn = once(process, 'message')
      process.send?.('pauses')
      await goOn
    }
    for (const each of all) {
      await each.publish()
      await pause(pauseMs)
    }
  }
  process.send?.(await Promise.all(all.map(({ received }) => received)))
}

class Listeners {
  readonly #line: Channel
  readonly #buffer = Buffer.from(new ArrayBuffer(65_536))
  readonly #publisher = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #received: Heard = { deliveries: 0, lost: 0, repeated: 0, delivery: [], answer: [] }
  readonly ready: Promise<void>
  readonly received: Promise<Heard>

  constructor(line: Channel, subscribers: number, events: number) {
    this.#line = line
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ready = promise
    let connected = 0
    const onConnect = () => ++connected === subscribers && resolve()
    const all = Array.from({ length: subscribers }, (_, i) => this.#subscribe(i, events, onConnect))
    this.received = Promise.all(all).then(() => this.#received)
  }

  async publish() {
    const start = performance.now()
    const payload = String(performance.timeOrigin + start)
    const body = JSON.stringify({ event_type: 'tick', origin: 'USER_EVENT', source: 'bench', payload })
    const { hostname, port } = new URL(this.#line.url)
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      authorization: `Bearer ${this.#line.key}`,
    }
    const path = this.#line.publish
    const outgoing = request({ hostname, port, path, method: 'POST', agent: this.#publisher, headers })
    outgoing.end(body)
    const [response] = await once(outgoing, 'response')
    response.resume()
    await once(response, 'end')
    if (response.statusCode !== 200) throw new Error(`Publishing returned ${response.statusCode}`)
    this.#received.answer.push(performance.now() - start)
  }

  /**
   * Reconnects when its stream ends. Reads the socket directly: with 100 Node HTTP clients, the last event arrives ms
   * late.
   */
  async #subscribe(index: number, events: number, onConnect: () => void) {
    let last = 0
    let isFirst = true
    while (last < events) {
      const { hostname, port } = new URL(this.#line.url)
      // Parsed later; only the arrival time counts.
      const came: { atMs: number; text: string }[] = []
      let rest = ''
      let hasAnswered = false
      const read = () => {
        for (const { atMs, text } of came.splice(0)) {
          const frames = (rest + text).split('\n\n')
          rest = frames.pop() ?? ''
          for (const frame of frames) {
            const [start] = /^(?:\r\n[0-9a-f]+\r\n)?data: /.exec(frame) ?? []
            if (start) last = this.#hear(frame.slice(start.length), last, atMs)
          }
        }
        if (last >= events) socket.destroy()
      }
      const hear = (size: number, bytes: Uint8Array) => {
        const atMs = performance.timeOrigin + performance.now()
        const text = Buffer.from(bytes.buffer, 0, size).toString()
        if (!hasAnswered && !text.startsWith('HTTP/1.1 200')) socket.destroy()
        else if (came.push({ atMs, text }) === 1) setImmediate(read)
        if (!hasAnswered && isFirst && !socket.destroyed) {
          isFirst = false
          onConnect()
        }
        hasAnswered = true
        return true
      }
      const socket = connect({ host: hostname, port: Number(port), onread: { buffer: this.#buffer, callback: hear } })
      socket.write(
        `GET ${this.#line.subscribe}${last} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${this.#line.key}\r\n\r\n`,
      )
      // The service is restarting.
      socket.on('error', () => undefined)
      await new Promise((closed) => socket.once('close', closed))
      read()
      if (last < events) await pause(20 + (index % 50))
    }
  }

  #hear(json: string, last: number, atMs: number): number {
    const { sequence, payload } = JSON.parse(json) as { sequence: number; payload: string }
    if (sequence <= last) this.#received.repeated++
    else this.#received.lost += sequence - last - 1
    this.#received.deliveries++
    this.#received.delivery.push(atMs - Number(payload))
    return Math.max(last, sequence)
  }
}

if (process.argv[2] === 'listen') process.once('message', (order) => void listen(order as Order))
