import WebSocket from 'ws'
import type { TestService } from './service.ts'

/** A client of one terminal that remembers all it was shown. */
export const attach = (service: TestService, path: string, protocols: string[] = []) => {
  const socket = new WebSocket(service.url.replace('http', 'ws') + path, protocols)
  let shown = ''
  let binary = true
  const waiting = new Set<() => void>()
  socket.on('message', (data: Buffer, isBinary) => {
    binary &&= isBinary
    shown = (shown + data.toString()).slice(-10_000)
    for (const each of waiting) each()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  const refused = new Promise<number>((resolve) =>
    socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0)),
  )
  socket.on('error', () => undefined)
  const shows = <T>(find: (shown: string) => T | undefined | null | false) =>
    new Promise<T>((resolve) => {
      const ask = () => {
        const found = find(shown)
        if (found && waiting.delete(ask)) resolve(found)
      }
      waiting.add(ask)
      ask()
    })
  return {
    socket,
    closed,
    refused,
    opened: new Promise<void>((resolve) => socket.once('open', () => resolve())),
    type: (text: string | Buffer) => socket.send(text),
    shows: (pattern: RegExp) => shows((text) => pattern.exec(text)),
    /** Resolves once this is shown so many times. */
    showsTimes: (part: RegExp, times: number) => shows((text) => text.split(part).length > times),
    text: () => shown,
    isBinary: () => binary,
  }
}

/** Opens the session of this name and attaches to it. */
export const openTerminal = async (
  service: TestService,
  name: string,
  query: { cols?: number; rows?: number } = {},
) => {
  const session = await service.client.terminals.connect({ params: { session_name: name }, query })
  const terminal = attach(service, session.connect_url ?? '')
  await terminal.opened
  return { name, session, ...terminal }
}
