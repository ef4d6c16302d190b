import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { incompleteTail } from '#lib/terminal/xterm/characters.ts'

/** The most that a close frame has room for. */
const maxReasonBytes = 123
const pingMs = 15_000
const deadMs = 45_000
/** A connection whose other side does not answer a close is cut after this long. */
export const hangUpMs = 1_000

/** When each socket was last heard from. One timer serves all of them, as a thousand pages would hold a thousand timers. */
const heardAt = new Map<WebSocket, number>()
let pinging: NodeJS.Timeout | undefined

const pingAll = () => {
  const now = Date.now()
  for (const [socket, heardMs] of heardAt) {
    // No traffic is heard from a socket that is not being read.
    if (socket.isPaused) heardAt.set(socket, now)
    else if (now - heardMs > deadMs) socket.terminate()
    if (socket.readyState === WebSocket.OPEN) socket.ping()
  }
}

/** Must be called when bytes leave a watched socket. Bytes that arrive are noticed without it. */
export const heard = (socket: WebSocket): void => {
  if (heardAt.has(socket)) heardAt.set(socket, Date.now())
}

function onTraffic(this: WebSocket) {
  heard(this)
}

function onClose(this: WebSocket) {
  heardAt.delete(this)
  if (heardAt.size > 0) return
  clearInterval(pinging)
  pinging = undefined
}

/**
 * Pings until the socket is closed, and cuts the connection after a time without any traffic. Bytes that leave count as
 * well as bytes that come: behind a flood the pong is late, and a busy terminal must not be taken for dead.
 */
export const terminateWhenDead = (socket: WebSocket): void => {
  heardAt.set(socket, Date.now())
  for (const sign of ['message', 'ping', 'pong']) socket.on(sign, onTraffic)
  socket.on('close', onClose)
  pinging ??= setInterval(pingAll, pingMs)
}

/** Closes with a code and a reason, and cuts the connection when the other side does not answer in time. */
export const closeWithTimeout = (socket: WebSocket, code?: number, reason = '', withinMs = hangUpMs): void => {
  // A paused socket would not read the answer to its close.
  socket.resume()
  const bytes = Buffer.from(reason).subarray(0, maxReasonBytes)
  socket.close(code, bytes.subarray(0, bytes.length - incompleteTail(bytes)))
  const timer = setTimeout(() => socket.terminate(), withinMs)
  socket.once('close', () => clearTimeout(timer))
}

/** Says the last words on a connection, and cuts it when the other side keeps its half open. */
export const endSocket = (socket: Duplex, words: string): void => {
  socket.end(words)
  const timer = setTimeout(() => socket.destroy(), hangUpMs)
  socket.once('close', () => clearTimeout(timer))
}

/** What a text frame says. Undefined, which schemas refuse, for a frame that is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
