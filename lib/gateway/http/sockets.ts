import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { incompleteTail } from '#lib/terminal/xterm/characters.ts'

/** Maximum size of a close reason. */
const maxReasonBytes = 123
const pingMs = 15_000
const deadMs = 45_000
/** Connections that don't complete a close are terminated after this time. */
export const hangUpMs = 1_000

const lastActivityMs = new WeakMap<WebSocket, number>()

/** Call this when bytes are sent; received bytes are tracked automatically. */
export const heard = (socket: WebSocket): void => {
  if (lastActivityMs.has(socket)) lastActivityMs.set(socket, Date.now())
}

// Pings the socket and closes it after a time without traffic. Sent bytes count too: behind a flood the pong is
// late.
export const terminateWhenDead = (socket: WebSocket): void => {
  lastActivityMs.set(socket, Date.now())
  for (const sign of ['message', 'ping', 'pong']) socket.on(sign, () => heard(socket))
  const pinging = setInterval(() => {
    // A paused socket receives nothing.
    if (socket.isPaused) heard(socket)
    else if (Date.now() - (lastActivityMs.get(socket) ?? 0) > deadMs) socket.terminate()
    if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, pingMs)
  socket.once('close', () => clearInterval(pinging))
}

/** Closes with a code and reason, and cuts the connection if the other side does not respond. */
export const closeWithTimeout = (socket: WebSocket, code?: number, reason = '', withinMs = hangUpMs): void => {
  // A paused socket would not read the close response.
  socket.resume()
  const bytes = Buffer.from(reason).subarray(0, maxReasonBytes)
  socket.close(code, bytes.subarray(0, bytes.length - incompleteTail(bytes)))
  const timer = setTimeout(() => socket.terminate(), withinMs)
  socket.once('close', () => clearTimeout(timer))
}

/** Sends a final response and cuts the connection if the other side keeps it open. */
export const endSocket = (socket: Duplex, words: string): void => {
  socket.end(words)
  const timer = setTimeout(() => socket.destroy(), hangUpMs)
  socket.once('close', () => clearTimeout(timer))
}

/** Undefined if invalid, which schemas reject. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
