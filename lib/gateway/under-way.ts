import { Refusal } from './http/answer.ts'
import { registry } from './registry.ts'

/**
 * What one account may have under way at once: far more than people need, ten commands in ten tabs or a thousand pages,
 * and few enough that the others are served.
 */
export const mostUnderWay = { calls: 256, streams: 512, pages: 2_200 }

/** Counts one in; the returned call counts it out. Undefined when there are as many as there may be. */
export const countIn = (account: string, kind: keyof typeof mostUnderWay): (() => void) | undefined => {
  const { underWay } = registry()
  const key = `${kind} ${account}`
  const count = underWay.get(key) ?? 0
  if (count >= mostUnderWay[kind]) return undefined
  underWay.set(key, count + 1)
  let isIn = true
  return () => {
    if (!isIn) return
    isIn = false
    const left = (underWay.get(key) ?? 1) - 1
    if (left > 0) underWay.set(key, left)
    else underWay.delete(key)
  }
}

export const tooMany = (kind: keyof typeof mostUnderWay): Refusal =>
  new Refusal('rate_limited', `${mostUnderWay[kind]} ${kind} of this account are under way; wait until one has ended`, {
    retryAfterSeconds: 1,
  })
