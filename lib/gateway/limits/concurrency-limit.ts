import { HttpError } from '../http/handle-request.ts'
import { registry } from '../registry/registry.ts'

/**
 * What one account may have under way at once: far more than people need, ten commands in ten tabs or a thousand pages,
 * and few enough that the others are served.
 */
export const maxConcurrent = { calls: 256, streams: 512, pages: 2_200 }

/** Counts one in; the returned call counts it out. Undefined when there are as many as there may be. */
export const acquireSlot = (account: string, kind: keyof typeof maxConcurrent): (() => void) | undefined => {
  const { inFlight } = registry()
  const key = `${kind} ${account}`
  const count = inFlight.get(key) ?? 0
  if (count >= maxConcurrent[kind]) return undefined
  inFlight.set(key, count + 1)
  let isIn = true
  return () => {
    if (!isIn) return
    isIn = false
    const left = (inFlight.get(key) ?? 1) - 1
    if (left > 0) inFlight.set(key, left)
    else inFlight.delete(key)
  }
}

export const concurrencyError = (kind: keyof typeof maxConcurrent): HttpError =>
  new HttpError(
    'rate_limited',
    `${maxConcurrent[kind]} ${kind} of this account are under way; wait until one has ended`,
    {
      retryAfterSeconds: 1,
    },
  )
