import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { spawn as spawnInPty } from '@lydell/node-pty'
import { WebSocket } from 'ws'
import type { Product } from '#e2e/product.ts'
import { createClient } from '#lib/client/client.ts'
import type { TerminalNotice } from '#lib/protocol/terminals.ts'
import { freePort } from '#lib/service/testing/free-port.ts'

const size = { cols: 120, rows: 36 }

export interface Attached {
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

/** Through the console: two hops. */
export const consoleTarget = (product: Product, devboxId: string, cookie: string): Target => ({
  name: 'console',
  attach: async (session = newName()) => {
    const page = await openPage(product, { devboxId, session, cookie })
    return { ...page, end: () => page.sendFrame({ t: 'close' }) }
  },
})

export const openPage = async (
  { url }: Pick<Product, 'url'>,
  {
    devboxId,
    session,
    cookie,
    query = {},
  }: {
    devboxId: string
    session: string
    cookie: string
    query?: Record<string, string>
  },
) => {
  const search = new URLSearchParams({
    cols: `${size.cols}`,
    rows: `${size.rows}`,
    ack: '1',
    scrollback: '2000',
    ...query,
  })
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
    sendFrame,
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
  }
}

/** ttyd 1.7.7 from TTYD_PATH, or undefined. */
export const startTtyd = async (): Promise<
  { url: string; pid: number; target: Target; stop(): Promise<void> } | undefined
> => {
  const path = process.env.TTYD_PATH
  if (!path) return undefined
  const port = await freePort()
  const shell = [
    'env',
    '-i',
    `PATH=${process.env.PATH}`,
    'HOME=/tmp',
    'TERM=xterm-256color',
    'PS1=$ ',
    'bash',
    '--norc',
    '--noprofile',
  ]
  const child = spawn(path, ['-p', `${port}`, '-i', '127.0.0.1', '-W', ...shell], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(url).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`${path} exited with ${child.exitCode}`)
    await delay(50)
  }
  return { url, pid: child.pid ?? 0, target: ttydTarget(url), stop: () => end(child) }
}

/** Like ttyd's own page: pauses above ten unparsed chunks of 100 kB, resumes below four. */
const ttydTarget = (url: string): Target => ({
  name: 'ttyd',
  attach: async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['tty'], options)
    const attached = await opened(socket, (message) => (message[0] === 0x30 ? message.subarray(1) : undefined))
    socket.send(JSON.stringify({ AuthToken: '', columns: size.cols, rows: size.rows }))
    let owed = 0
    let isPaused = false
    const flow = () => {
      const wants = isPaused ? owed > 400_000 : owed > 1_000_000
      if (wants !== isPaused) socket.send(Buffer.from(wants ? '2' : '3'))
      isPaused = wants
    }
    return {
      ...attached,
      send: (text) => socket.send(Buffer.from(`0${text}`)),
      onData: (listener) =>
        attached.onData((bytes) => {
          owed += bytes.length
          flow()
          listener(bytes)
        }),
      parsed: (count) => {
        owed -= count
        flow()
      },
    }
  },
})

const options = { perMessageDeflate: false, maxPayload: 64 * 1024 * 1024 }

let names = 0
export const newName = () => `bench-${process.pid}-${++names}`

const opened = async (
  socket: WebSocket,
  payload: (message: Buffer) => Buffer | undefined = (message) => message,
): Promise<Attached> => {
  const early: Buffer[] = []
  let take: (bytes: Buffer) => void = (bytes) => {
    early.push(bytes)
  }
  socket.on('message', (data: Buffer, isBinary) => {
    const bytes = isBinary ? payload(data) : undefined
    if (bytes) take(bytes)
  })
  socket.on('error', () => socket.terminate())
  let tcp: Socket | undefined
  socket.once('upgrade', (response) => {
    tcp = response.socket
    tcp.setNoDelay(true)
  })
  const [event] = await Promise.race([
    once(socket, 'open').then(() => ['open']),
    once(socket, 'unexpected-response').then(([, response]) => [`refused with ${response.statusCode}`]),
    once(socket, 'close').then(([code, reason]) => [`closed with ${code} ${reason}`]),
  ])
  if (event !== 'open') throw new Error(`The terminal sent ${event} instead of open`)
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

const end = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 2000)
  await exited
  clearTimeout(timer)
}
