import { createWrongKeyLimit } from '#lib/limits/wrong-key-limit.ts'
import { HttpError } from '../http/handle-request.ts'
import { slot } from '../registry/registry.ts'

const wrongKeys = slot('wrongKeys', createWrongKeyLimit)

/** Counts a wrong key or link of a client; throws 429 with `message` once there were too many. */
export const countWrongKey = async (client: string, message: string): Promise<void> => {
  const retryAfterSeconds = await wrongKeys().count(client)
  if (retryAfterSeconds === undefined) return
  throw new HttpError('rate_limited', `${message}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds })
}
