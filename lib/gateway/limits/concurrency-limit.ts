import { HttpError } from '../http/handle-request.ts'
import { slot } from '../registry/registry.ts'

/** Per account: far above normal use (ten commands in ten tabs, a thousand pages), low enough to leave room for others. */
export const maxConcurrent = { calls: 256, streams: 512, pages: 2_200 }

export const inFlight = slot('inFlight', () => new Map<string, number>())

/** Takes a slot and returns the function that releases it; undefined when the account has none left. */
export const acquireSlot = (account: string, kind: keyof typeof maxConcurrent): (() => void) | undefined => {
  const counts = inFlight()
  const key = `${kind} ${account}`
  const count = counts.get(key) ?? 0
  if (count >= maxConcurrent[kind]) return undefined
  counts.set(key, count + 1)
  let isReleased = false
  return () => {
    if (isReleased) return
    isReleased = true
    const left = (counts.get(key) ?? 1) - 1
    if (left > 0) counts.set(key, left)
    else counts.delete(key)
  }
}

export const concurrencyError = (kind: keyof typeof maxConcurrent): HttpError =>
  new HttpError('rate_limited', `This account has ${maxConcurrent[kind]} ${kind} open; retry when one has ended`, {
    retryAfterSeconds: 1,
  })
