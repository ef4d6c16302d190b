import { HttpError } from '../http/handle-request.ts'
import { registry } from '../registry/registry.ts'

/** Throws 429, with `message`, to a client that sent too many wrong keys or links. */
export const countWrongKey = async (client: string, message: string): Promise<void> => {
  const retryAfterSeconds = await registry().wrongKeys.count(client)
  if (retryAfterSeconds === undefined) return
  throw new HttpError('rate_limited', `${message}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds })
}
