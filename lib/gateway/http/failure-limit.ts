import { clientOf } from '#lib/connections/client-of.ts'
import { Refusal } from './answer.ts'

const windowMs = 60_000

/** The times at which a client failed within the last minute, oldest first. Throws a Refusal when there are too many. */
export const recentFailures = (
  failures: Map<string, number[]>,
  address: string,
  { most, message }: { most: number; message: string },
): number[] => {
  const client = clientOf(address)
  const now = Date.now()
  for (const [each, times] of failures) {
    while ((times[0] ?? now) <= now - windowMs) times.shift()
    if (times.length === 0) failures.delete(each)
  }
  const times = failures.get(client) ?? []
  const [oldest] = times
  if (oldest !== undefined && times.length >= most) {
    const retryAfterSeconds = Math.ceil((oldest + windowMs - now) / 1000)
    throw new Refusal('rate_limited', `${message}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds })
  }
  failures.set(client, times)
  return times
}
