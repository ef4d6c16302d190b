import { execFileSync } from 'node:child_process'
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { maxHistoryBytes } from './shell.ts'

type Enough = (end: string, length: number) => boolean

const expectAll = (received: Buffer, last: number) => {
  const numbers = received.subarray(received.indexOf('begin\n') + 6, received.indexOf('\nend\n') + 1)
  expect(numbers.equals(execFileSync('seq', ['1', `${last}`], { maxBuffer: 2 ** 30 }))).toBe(true)
}

describe('reattaching to a terminal', () => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation: strongestIsolation })
    id = await service.devbox()
  })
  afterAll(() => service.close())

  const connect = (session_name: string) => service.client.terminals.connect({ params: { session_name } })

  const read = async (name: string, after: number | undefined, enough: Enough, type = '') => {
    const { connect_url } = await connect(name)
    const url = service.url.replace('http', 'ws') + connect_url + (after === undefined ? '' : `&after=${after}`)
    const socket = new WebSocket(url)
    const chunks: Buffer[] = []
    let length = 0
    let end = ''
    const [answer] = await Promise.all([
      new Promise<IncomingMessage>((resolve, reject) => socket.once('upgrade', resolve).once('error', reject)),
      new Promise<void>((resolve) => {
        socket.on('message', (data: Buffer) => {
          if (socket.readyState !== WebSocket.OPEN) return
          chunks.push(data)
          length += data.length
          end = end.slice(-1000) + data.toString('latin1')
          if (enough(end, length)) resolve()
        })
        socket.once('open', () => type !== '' && socket.send(type))
      }),
    ])
    const bytes = Buffer.concat(chunks)
    socket.removeAllListeners('message').terminate()
    const { 'x-output-offset': offset, 'x-shell-id': shell } = answer.headers
    return { bytes, offset: Number(offset), shell: String(shell) }
  }
  const until = (words: string) => (end: string) => end.includes(words)
  const flood = (last: number) =>
    `stty -onlcr; printf 'be''gin\\n'; (echo $BASHPID > ~/writer; exec seq 1 ${last}); printf 'en''d\\n'\r`
  // `seq` only sleeps while its output is blocked.
  const isHeld = 'for ((n = 0; n < 50; n++)); do [[ $(< /proc/$(< ~/writer)/stat) == *") S "* ]] || n=0; done'
  const held = () => service.client.executions.executeSync({ params: { id }, body: { command: isHeld } })

  it('neither loses nor repeats a byte over 40 reconnects during a flood', async () => {
    const name = `${id}-cuts`
    const command = `stty -onlcr; printf 'be''gin\\n'; seq 1 600000; printf 'en''d\\n'\r`
    const first = await read(name, undefined, until('begin\n'), command)
    expect(first.offset).toBe(0)
    const parts = [first.bytes]
    let at = first.bytes.length
    const tail = () => Buffer.concat(parts.slice(-2))
    for (let cut = 1; cut <= 40; cut++) {
      // Received but unprocessed data is lost with the connection.
      const part = await read(name, at, (_, length) => length > cut * 1000)
      expect(part).toMatchObject({ offset: at, shell: first.shell })
      parts.push(part.bytes)
      at += part.bytes.length
      expect(tail().includes('\nend\n')).toBe(false)
    }
    const rest = await read(name, at, until('\nend\n'))
    expect(rest.offset).toBe(at)
    expectAll(Buffer.concat([...parts, rest.bytes]), 600_000)
  })

  it('loses no output for a client that stalls and reconnects', async () => {
    const name = `${id}-away`
    const first = await read(name, undefined, until('begin\n'), flood(3_000_000))
    const parts = [first.bytes]
    let at = first.bytes.length
    for (let cut = 0; cut < 3; cut++) {
      const { connect_url } = await connect(name)
      const socket = new WebSocket(`${service.url.replace('http', 'ws') + connect_url}&after=${at}`)
      await new Promise((resolve) => socket.once('open', resolve))
      socket.pause()
      await held()
      socket.terminate()
      await held()
      const part = await read(name, at, (_, length) => length > 100_000)
      expect(part).toMatchObject({ offset: at, shell: first.shell })
      parts.push(part.bytes)
      at += part.bytes.length
    }
    const rest = await read(name, at, until('\nend\n'))
    expectAll(Buffer.concat([...parts, rest.bytes]), 3_000_000)
  })

  it('starts at the first complete line after too much output', async () => {
    const name = `${id}-gap`
    const command = 'seq 1 200000; printf "do""ne\\n"; sleep 1000\r'
    const first = await read(name, undefined, (_, length) => length > 100, command)
    // Output doesn't wait for a client that closed normally.
    await closeNormally(name)
    await service.client.executions.executeSync({
      params: { id },
      body: { command: 'until pgrep -x sleep; do sleep 0.02; done' },
    })
    const second = await read(name, first.bytes.length, until('done\r\n'))
    expect(second.shell).toBe(first.shell)
    expect(second.offset).toBeGreaterThan(first.bytes.length)
    expect(second.bytes.length).toBeGreaterThan(maxHistoryBytes - 100)
    expect(second.bytes.length).toBeLessThanOrEqual(maxHistoryBytes)
    expect(second.bytes.toString()).toMatch(/^\d+\r\n\d+\r\n/)
    const whole = await read(name, undefined, until('done\r\n'))
    expect(whole.bytes.equals(second.bytes)).toBe(true)
  })

  const closeNormally = async (name: string) => {
    const socket = new WebSocket(service.url.replace('http', 'ws') + (await connect(name)).connect_url)
    await new Promise((resolve) => socket.once('open', resolve))
    socket.close(1000)
    await new Promise((resolve) => socket.once('close', resolve))
  }

  it('sends nothing to a client that has read everything, and everything for an offset beyond the end', async () => {
    const name = `${id}-end`
    const first = await read(name, undefined, until('mark\r\n'), 'PS1=; echo ma""rk\r')
    const second = await read(name, first.bytes.length, until('next'), 'echo ne""xt\r')
    expect(second.offset).toBe(first.bytes.length)
    expect(second.bytes.toString()).not.toContain('mark\r\n')
    const third = await read(name, 10_000_000, until('next\r\n'))
    expect(third.offset).toBe(0)
    expect(third.bytes.subarray(0, first.bytes.length).equals(first.bytes)).toBe(true)
  })

  it('rejects an invalid `after`', async () => {
    for (const after of ['-1', 'x', '1.5']) {
      const { connect_url } = await connect(`${id}-bad`)
      const socket = new WebSocket(`${service.url.replace('http', 'ws') + connect_url}&after=${after}`)
      const status = await new Promise((resolve) => {
        socket.once('unexpected-response', (_, answer: IncomingMessage) => resolve(answer.statusCode))
        socket.once('open', () => resolve(101))
        socket.on('error', () => undefined)
      })
      expect(status).toBe(400)
      socket.terminate()
    }
  })
})
