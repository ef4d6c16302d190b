import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { incompleteTail } from '#lib/terminal/xterm/characters.ts'

/** Maximum size of a close reason. */
const maxReasonBytes = 123
const pingMs = 15_000
const deadMs = 45_000
/** Connections that do not complete a close are cut after this time. */
export const hangUpMs = 1_000

/** Last activity per socket. One timer serves all, instead of one per page. */
const lastActivityMs = new Map<WebSocket, number>()
let pinging: NodeJS.Timeout | undefined

const pingAll = () => {
  const now = Date.now()
  for (const [socket, heardMs] of lastActivityMs) {
    // A paused socket receives nothing.
    if (socket.isPaused) lastActivityMs.set(socket, now)
    else if (now - heardMs > deadMs) socket.terminate()
    if (socket.readyState === WebSocket.OPEN) socket.ping()
  }
}

/** Call this when bytes are sent; received bytes are tracked automatically. */
export const heard = (socket: WebSocket): void => {
  if (lastActivityMs.has(socket)) lastActivityMs.set(socket, Date.now())
}

function onTraffic(this: WebSocket) {
  heard(this)
}

function onClose(this: WebSocket) {
  lastActivityMs.delete(this)
  if (lastActivityMs.size > 0) return
  clearInterval(pinging)
  pinging = undefined
}

/**
 * Pings the socket and cuts it after a time without traffic. Sent bytes count as well: behind a flood the pong is
 * late.
 */
export const terminateWhenDead = (socket: WebSocket): void => {
  lastActivityMs.set(socket, Date.now())
  for (const sign of ['message', 'ping', 'pong']) socket.on(sign, onTraffic)
  socket.on('close', onClose)
  pinging ??= setInterval(pingAll, pingMs)
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
