import { request } from 'undici'
import { anyAgent, isPrivateHost, privateAddressCode, publicAgent } from './address-guard.ts'

export interface OutgoingRequest {
  url: string
  headers: Record<string, string>
  body: string | Uint8Array
}

/** `rejected`: another try is unlikely to help. */
export interface Outcome {
  result: 'accepted' | 'failed' | 'rejected'
  /** Never contains text of the receiver, which may repeat secrets. */
  answer: string
  isTooLarge?: boolean
  /** The target no longer exists. */
  isGone?: boolean
  retryAfterMs?: number
}

interface Options {
  isPrivateAllowed: boolean
  timeoutMs: number
  signal: AbortSignal
}

/** Never rejects, and never follows a redirect: it could leak the message to another host. */
export const post = async (
  { url, headers, body }: OutgoingRequest,
  { isPrivateAllowed, timeoutMs, signal }: Options,
): Promise<Outcome> => {
  if (!isPrivateAllowed && isPrivateHost(url)) return privateAddress
  try {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'devdeck-alerts', ...headers },
      body,
      dispatcher: isPrivateAllowed ? anyAgent : publicAgent,
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]),
    })
    response.body.on('error', () => undefined).destroy()
    return outcomeOf(response.statusCode, response.headers['retry-after'])
  } catch (error) {
    const { name, code } = error as Error & { code?: string }
    if (code === privateAddressCode) return privateAddress
    if (name === 'TimeoutError') return { result: 'failed', answer: 'timed out' }
    return { result: 'failed', answer: `unreachable${code ? ` (${code})` : ''}` }
  }
}

export const targetOver: Outcome = { result: 'rejected', answer: 'signed out', isGone: true }
export const targetUnreadable: Outcome = { result: 'failed', answer: 'stored URL unreadable; enter it again' }
const privateAddress: Outcome = { result: 'rejected', answer: 'private address' }

const outcomeOf = (status: number, retryAfter: string | string[] | undefined): Outcome => {
  const answer = `HTTP ${status}`
  if (status >= 200 && status < 300) return { result: 'accepted', answer }
  if (status >= 500 || status === 408 || status === 429) {
    const retryAfterMs = waitMs(String(retryAfter ?? ''), Date.now())
    return { result: 'failed', answer, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }
  return { result: 'rejected', answer, isTooLarge: status === 413, isGone: status === 404 || status === 410 }
}

/** Parses a Retry-After header: seconds or a date. */
const waitMs = (header: string, nowMs: number): number | undefined => {
  const ms = /^\d{1,6}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return ms > 0 ? ms : undefined
}
