import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { liveAckMs } from '#lib/browser/live/follow.ts'
import { AckCounter } from '#lib/terminal/page/ack-counter.ts'
import type { Use } from './evictions-server.ts'

const pages = 1_000
const latencyPages = 500
const rounds = 5
const eventsARound = 40
const inOneHour = 3_600_000

/** A service with one event stream. */
const startService = async () => {
  const watching = new Set<ServerResponse>()
  let watches = 0
  const server = createServer((request, response) => {
    const json = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === '/v1/accounts/me') return json({ id: 'acc', name: 'Bench' })
    if (!request.url?.endsWith('/watch')) return json({ devboxes: [], has_more: false })
    watches += 1
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
    watching.add(response)
    response.once('close', () => watching.delete(response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  let said = 0
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    watches: () => watches,
    emit: () => {
      said += 1
      const eviction = { devbox_id: `dbx_${said % 50}`, eviction_deadline_ms: Date.now() + inOneHour + said }
      for (const response of watching) response.write(`data: ${JSON.stringify(eviction)}\n\n`)
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
type Service = Awaited<ReturnType<typeof startService>>

class Side {
  readonly child: ChildProcess
  readonly #port: number
  readonly #headers: Record<string, string>
  readonly sockets: WebSocket[] = []
  delivered = 0

  static async start(name: 'bare' | 'console', service: Service): Promise<Side> {
    const child = fork(join(import.meta.dirname, 'evictions-server.ts'), [name, service.url], {
      execArgv: ['--expose-gc'],
    })
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    if (name === 'bare') return new Side(child, port, {})
    const url = `http://127.0.0.1:${port}`
    const answer = await fetch(`${url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ api_key: 'ak_bench' }),
    })
    const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    return new Side(child, port, { cookie, origin: url })
  }

  constructor(child: ChildProcess, port: number, headers: Record<string, string>) {
    this.child = child
    this.#port = port
    this.#headers = headers
  }

  async use(): Promise<Use> {
    const answer = once(this.child, 'message')
    this.child.send('use')
    return (await answer)[0] as Use
  }

  async open(count: number): Promise<void> {
    while (this.sockets.length < count) {
      const some = Math.min(50, count - this.sockets.length)
      await Promise.all(Array.from({ length: some }, () => this.#page()))
    }
  }

  async #page(): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}/api/live`, { headers: this.#headers })
    this.sockets.push(socket)
    const isConsole = 'cookie' in this.#headers
    // As a page does.
    const acks = isConsole ? new AckCounter((n) => socket.send(`{"t":"ack","n":${n}}`), liveAckMs) : undefined
    socket.once('close', () => acks?.stop())
    const ready = Promise.withResolvers<void>()
    socket.on('message', (data) => {
      const text = String(data)
      if (!text.startsWith('{"t":"data"')) return
      // Each delivered eviction is one alert.
      const items = text.split('"event":"alert"').length - 1
      if (text.includes('"snapshot"')) return ready.resolve()
      this.delivered += items
      this.onDelivery(items)
      acks?.parsed(text.length)
    })
    await once(socket, 'open')
    if (!isConsole) return
    socket.send('{"t":"subscribe","id":1,"topic":{"endpoint":"alerts.watch"}}')
    await ready.promise
  }

  onDelivery: (items: number) => void = () => undefined

  /** Opens a page that receives everything and reads nothing. */
  async stopped(): Promise<() => void> {
    const socket = connect(this.#port, '127.0.0.1')
    const headers = Object.entries(this.#headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(
      `GET /api/live HTTP/1.1\r\nhost: 127.0.0.1:${this.#port}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers.join('')}\r\n`,
    )
    await once(socket, 'data')
    const request = Buffer.from('{"t":"subscribe","id":1,"topic":{"endpoint":"alerts.watch"}}')
    // Client frames are masked; a zero mask changes nothing.
    socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | request.length, 0, 0, 0, 0]), request]))
    socket.pause()
    return () => socket.destroy()
  }

  async until(count: number): Promise<void> {
    while (this.delivered < count) await turn()
  }

  close(): void {
    for (const socket of this.sockets) socket.terminate()
    this.child.disconnect()
  }
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
const percentile = (numbers: readonly number[], share: number) =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? 0

/** CPU per delivery, in microseconds. */
const round = async (side: Side, service: Service): Promise<number> => {
  const before = await side.use()
  const wanted = side.delivered + eventsARound * side.sockets.length
  for (let i = 0; i < eventsARound; i++) {
    service.emit()
    // One at a time; a burst would be batched into one frame.
    await side.until(wanted - (eventsARound - 1 - i) * side.sockets.length)
  }
  const { cpuMicros } = await side.use()
  return (cpuMicros - before.cpuMicros) / (eventsARound * side.sockets.length)
}

/** Memory per page after the first hundred. */
const memoryAPage = async (side: Side): Promise<number> => {
  await side.open(100)
  const { memoryBytes } = await side.use()
  await side.open(pages)
  return ((await side.use()).memoryBytes - memoryBytes) / (pages - 100)
}

const latencies = async (side: Side, service: Service): Promise<number[]> => {
  const taken: number[] = []
  for (let i = 0; i < 20; i++) {
    const startMs = performance.now()
    const wanted = side.delivered + side.sockets.length
    side.onDelivery = () => taken.push(performance.now() - startMs)
    service.emit()
    await side.until(wanted)
  }
  side.onDelivery = () => undefined
  return taken
}

/**
 * Evictions to many pages: the console, alternating with a minimal fan-out, and whether a page that reads nothing
 * delays the others.
 */
export const benchEvictions = async () => {
  const sides: Record<'bare' | 'console', { side: Side; service: Service }> = {} as never
  for (const name of ['bare', 'console'] as const) {
    const service = await startService()
    sides[name] = { service, side: await Side.start(name, service) }
  }
  const { bare, console: own } = sides
  try {
    console.log(`evictions to ${pages} pages, compared with a bare fan-out`)
    const memory = [await memoryAPage(bare.side), await memoryAPage(own.side)] as const
    for (const { side, service } of [bare, own]) await round(side, service)
    const cpu = { bare: [] as number[], own: [] as number[] }
    for (let i = 0; i < rounds; i++) {
      cpu.bare.push(await round(bare.side, bare.service))
      cpu.own.push(await round(own.side, own.service))
    }
    const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`
    const [bareCpu, ownCpu] = [median(cpu.bare), median(cpu.own)]
    console.log(
      `  memory a page   ${kib(memory[1])}, bare ${kib(memory[0])}: ${(memory[1] / memory[0]).toFixed(2)}x (goal 1.5x)`,
    )
    console.log(
      `  CPU a delivery  ${ownCpu.toFixed(1)} us, bare ${bareCpu.toFixed(1)} us: ${(ownCpu / bareCpu).toFixed(2)}x (goal 1.5x)`,
    )
    console.log(`  upstream        ${own.service.watches()} service stream for ${pages} pages`)

    const stop = await own.side.stopped()
    await round(own.side, own.service)
    console.log('  stopped reader  every other page received every event')
    stop()
    for (const socket of own.side.sockets.splice(latencyPages)) socket.terminate()
    const taken = await latencies(own.side, own.service)
    console.log(
      `  event to page   p50 ${percentile(taken, 0.5).toFixed(0)} ms, p99 ${percentile(taken, 0.99).toFixed(0)} ms over ${latencyPages} pages`,
    )
  } finally {
    for (const { side, service } of Object.values(sides)) {
      side.close()
      service.close()
    }
  }
}
