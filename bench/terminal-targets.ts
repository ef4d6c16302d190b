import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { spawn as spawnInPty } from '@lydell/node-pty'
import { WebSocket } from 'ws'
import type { Product } from '#e2e/product.ts'
import { createClient } from '#lib/client/client.ts'
import type { TerminalNotice } from '#lib/protocol/terminals.ts'

const size = { cols: 120, rows: 36 }

interface Attached {
  send(text: string): void
  /** Also receives what arrived before. */
  onData(listener: (bytes: Buffer) => void): void
  /** Acknowledges parsed bytes, as a page does. */
  parsed(count: number): void
  /** The socket a stopped reader pauses; a pty has none. */
  socket: Socket | undefined
  /** Detaches and leaves the shell running. */
  leave(): void
  end(): void
}

export interface Target {
  name: string
  /** Attaches to `session` if the target can find it again, else to a new shell. */
  attach(session?: string): Promise<Attached>
}

/** bash in a pseudoterminal of this process: the floor. */
export const ptyTarget: Target = {
  name: 'pty',
  attach: async () => {
    const pty = spawnInPty('/bin/bash', ['--norc', '--noprofile'], {
      ...size,
      encoding: null,
      env: { PATH: process.env.PATH, HOME: '/tmp', TERM: 'xterm-256color', PS1: '$ ' },
    })
    let owed = 0
    let isPaused = false
    const flow = () => {
      const wants = isPaused ? owed > 32 * 1024 : owed > 128 * 1024
      if (wants === isPaused) return
      isPaused = wants
      if (isPaused) pty.pause()
      else pty.resume()
    }
    return {
      send: (text) => pty.write(text),
      onData: (listener) =>
        void pty.onData((data: string | Buffer) => {
          const bytes = Buffer.from(data)
          owed += bytes.length
          flow()
          listener(bytes)
        }),
      parsed: (count) => {
        owed -= count
        flow()
      },
      socket: undefined,
      leave: () => pty.kill('SIGKILL'),
      end: () => pty.kill('SIGKILL'),
    }
  },
}

/** Directly to the service: one hop. */
export const serviceTarget = ({ serviceUrl, service }: Product, devboxId: string): Target => ({
  name: 'service',
  attach: async (session = newName()) => {
    const { auth_token } = await service.devboxes.createPtyTunnel({ params: { id: devboxId } })
    const headers = { authorization: `Bearer ${auth_token}` }
    const { connect, control } = createClient({ baseUrl: serviceUrl, headers }).terminals
    const params = { session_name: session }
    const { connect_url } = await connect({ params, query: { ...size } })
    const address = new URL(connect_url ?? '', serviceUrl.replace(/^http/, 'ws'))
    const attached = await opened(new WebSocket(address, [auth_token], options))
    return { ...attached, end: () => void control({ params, body: { action: 'close' } }).catch(() => undefined) }
  },
})

/** A devbox's terminals in the console, as a signed-in page reaches them. */
export interface Way {
  url: string
  devboxId: string
  cookie: string
}

/** Through the console: two hops. */
export const consoleTarget = (way: Way): Target => ({
  name: 'console',
  attach: (session) => openPage(way, session),
})

export const openPage = async (
  { url, devboxId, cookie }: Way,
  session = newName(),
  query: Record<string, string> = {},
) => {
  const search = new URLSearchParams({ cols: '120', rows: '36', ack: '1', scrollback: '2000', ...query })
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/terminals/${devboxId}/${session}?${search}`, {
    ...options,
    headers: { origin: url, cookie },
  })
  const notices: TerminalNotice[] = []
  let onNotice: (notice: TerminalNotice) => void = (notice) => notices.push(notice)
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) onNotice(JSON.parse(data.toString()))
  })
  const attached = await opened(socket)
  const sendFrame = (request: object) => socket.send(JSON.stringify(request))
  let owed = 0
  return {
    ...attached,
    onNotice: (listener: typeof onNotice) => {
      onNotice = listener
      for (const notice of notices.splice(0)) listener(notice)
    },
    closed: new Promise<void>((done) => socket.once('close', () => done())),
    parsed: (count: number) => {
      owed += count
      if (owed < 64 * 1024) return
      sendFrame({ t: 'ack', n: owed })
      owed = 0
    },
    end: () => sendFrame({ t: 'close' }),
  }
}

const options = { perMessageDeflate: false, maxPayload: 64 * 1024 * 1024 }

let names = 0
export const newName = () => `bench-${process.pid}-${++names}`

const opened = async (socket: WebSocket): Promise<Attached> => {
  const early: Buffer[] = []
  let take: (bytes: Buffer) => void = (bytes) => {
    early.push(bytes)
  }
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) take(data)
  })
  let tcp: Socket | undefined
  socket.once('upgrade', (response) => {
    tcp = response.socket
    tcp.setNoDelay(true)
  })
  await once(socket, 'open')
  socket.on('error', () => socket.terminate())
  return {
    send: (text) => socket.send(Buffer.from(text)),
    onData: (listener) => {
      take = listener
      for (const bytes of early.splice(0)) listener(bytes)
    },
    parsed: () => undefined,
    socket: tcp,
    leave: () => socket.terminate(),
    end: () => socket.terminate(),
  }
}

export const prompt = /[$#] [ \r\n]*$/
const tailBytes = 1024

/** Reads an attached shell. */
export class Reader {
  readonly shell: Attached
  #tail = ''
  #waits: { pattern: RegExp; done: (at: number) => void }[] = []
  #sink = (bytes: Buffer) => this.parse(bytes)

  constructor(shell: Attached) {
    this.shell = shell
    shell.onData((bytes) => this.#sink(bytes))
  }

  /** Passes output to `sink`, which calls `parse` when it is ready. */
  divert(sink: (bytes: Buffer) => void): void {
    this.#sink = sink
  }

  parse(bytes: Buffer): void {
    this.shell.parsed(bytes.length)
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - tailBytes))).slice(-tailBytes)
    this.#check()
  }

  /** Resolves with the time when `pattern` is at the end of the output since the last `forget`. */
  async until(pattern: RegExp, withinMs = 60_000): Promise<number> {
    const found = Promise.withResolvers<number>()
    this.#waits.push({ pattern, done: found.resolve })
    this.#check()
    const timer = setTimeout(
      () =>
        found.reject(new Error(`No ${pattern} within ${withinMs} ms after ${JSON.stringify(this.#tail.slice(-200))}`)),
      withinMs,
    )
    return found.promise.finally(() => clearTimeout(timer))
  }

  forget(): void {
    this.#tail = ''
  }

  #check(): void {
    if (this.#waits.length === 0) return
    const text = stripVTControlCharacters(this.#tail)
    this.#waits = this.#waits.filter(({ pattern, done }) => {
      if (!pattern.test(text)) return true
      done(performance.now())
      return false
    })
  }
}

export const atPrompt = async (target: Target, session?: string) => {
  const startedAt = performance.now()
  const reader = new Reader(await target.attach(session))
  const promptAt = await reader.until(prompt, 20_000)
  return { reader, promptMs: promptAt - startedAt }
}

export const toCat = async (reader: Reader) => {
  reader.forget()
  reader.shell.send('stty raw -echo; echo rea""dy; exec cat\r')
  await reader.until(/ready/)
  await delay(100)
}
