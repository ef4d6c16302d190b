import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpError } from './handle-request.ts'

/** Less progress than this counts as stalled. */
const leastBytes = 1024
const looks = 3

/** Responds 408 to a stalled request body. Bodies waiting for a slow service do not count. */
export const watchBody = (
  request: IncomingMessage,
  response: ServerResponse,
  { stillMs, refuse }: { stillMs: number; refuse: (refusal: HttpError) => void },
): void => {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && !(Number(length) > 0)) return
  const { socket } = request
  let seen: number[] = []
  const clock = setInterval(() => {
    if (request.complete || request.destroyed) return clearInterval(clock)
    const waitsForUs = request.readableLength >= request.readableHighWaterMark
    seen = waitsForUs ? [] : [...seen, socket.bytesRead].slice(-looks - 1)
    const [first = 0] = seen
    if (seen.length <= looks || socket.bytesRead - first >= leastBytes) return
    clearInterval(clock)
    if (response.headersSent) return void request.destroy()
    response.once('finish', () => request.destroy())
    refuse(new HttpError('timeout', `No progress on the request body for ${stillMs / 1000} s`))
  }, stillMs / looks)
  response.once('close', () => clearInterval(clock))
}
