import { WebSocket } from 'ws'
import { incompleteTail } from '#lib/terminal/xterm/characters.ts'

/** The most that a close frame has room for. */
const maxReasonBytes = 123
const pingMs = 15_000
const deadMs = 45_000
/** A socket whose other side does not answer a close is cut after this long. */
export const hangUpMs = 1_000

/**
 * Pings, and cuts the connection after a time without any traffic. Bytes that leave count as well as bytes that come:
 * behind a flood the pong is late, and a busy terminal must not be taken for dead.
 */
export const watchForDeath = (socket: WebSocket): { stop(): void; heard(): void } => {
  let heardAt = Date.now()
  const heard = () => {
    heardAt = Date.now()
  }
  for (const sign of ['message', 'ping', 'pong'] as const) socket.on(sign, heard)
  const timer = setInterval(() => {
    // No traffic is heard from a socket that is not being read.
    if (socket.isPaused) heard()
    if (Date.now() - heardAt > deadMs) socket.terminate()
    else if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, pingMs)
  return { stop: () => clearInterval(timer), heard }
}

/** Closes with a code and a reason, and cuts the connection when the other side does not answer in time. */
export const closeSoon = (socket: WebSocket, code?: number, reason = '', withinMs = hangUpMs): void => {
  // A paused socket would not read the answer to its close.
  socket.resume()
  const bytes = Buffer.from(reason).subarray(0, maxReasonBytes)
  socket.close(code, bytes.subarray(0, bytes.length - incompleteTail(bytes)))
  const timer = setTimeout(() => socket.terminate(), withinMs)
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
