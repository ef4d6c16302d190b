import WebSocket from 'ws'
import type { TestService } from './service.ts'

export const attach = (service: Pick<TestService, 'url'>, path: string, protocols: string[] = []) => {
  const socket = new WebSocket(service.url.replace('http', 'ws') + path, protocols)
  let output = ''
  let binary = true
  const waiting = new Set<() => void>()
  socket.on('message', (data: Buffer, isBinary) => {
    binary &&= isBinary
    output = (output + data.toString()).slice(-10_000)
    for (const each of waiting) each()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  const refused = new Promise<number>((resolve) =>
    socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0)),
  )
  socket.on('error', () => undefined)
  const shows = <T>(find: (output: string) => T | undefined | null | false) =>
    new Promise<T>((resolve) => {
      const check = () => {
        const found = find(output)
        if (found && waiting.delete(check)) resolve(found)
      }
      waiting.add(check)
      check()
    })
  return {
    socket,
    closed,
    refused,
    opened: new Promise<void>((resolve) => socket.once('open', () => resolve())),
    type: (text: string | Buffer) => socket.send(text),
    shows: (pattern: RegExp) => shows((text) => pattern.exec(text)),
    /** Resolves once the output contains `part` this many times. */
    showsTimes: (part: RegExp, times: number) => shows((text) => text.split(part).length > times),
    text: () => output,
    isBinary: () => binary,
  }
}

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
