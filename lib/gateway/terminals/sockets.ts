import { WebSocket } from 'ws'

const pingMs = 15_000
const deadMs = 45_000
/** What is sent to a socket that takes none of it must not pile up. */
export const hangUpMs = 1_000

/**
 * Pings, and cuts the connection after a time without any sign of life. Bytes that leave are one as well as bytes that
 * come: behind a flood the pong is late, and a busy terminal must not be taken for dead.
 */
export const watchForDeath = (socket: WebSocket): { stop(): void; heard(): void } => {
  let heardAt = Date.now()
  const heard = () => {
    heardAt = Date.now()
  }
  for (const sign of ['message', 'ping', 'pong'] as const) socket.on(sign, heard)
  const timer = setInterval(() => {
    // What we do not read cannot tell that it lives.
    if (socket.isPaused) heard()
    if (Date.now() - heardAt > deadMs) socket.terminate()
    else if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, pingMs)
  return { stop: () => clearInterval(timer), heard }
}

/** Closes with a code and a reason, and cuts the connection when the other side does not answer in time. */
export const closeSoon = (socket: WebSocket, code?: number, reason = '', withinMs = hangUpMs): void => {
  // A paused socket would not hear the answer to its close.
  socket.resume()
  // A close reason has room for 123 bytes.
  const short = Buffer.from(reason)
    .subarray(0, 120)
    .toString()
    .replace(/\uFFFD$/, '')
  socket.close(code, short)
  const timer = setTimeout(() => socket.terminate(), withinMs)
  socket.once('close', () => clearTimeout(timer))
}
