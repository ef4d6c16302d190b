import { registry } from '../registry.ts'
import { Refusal } from './answer.ts'

/** Throws 429, with `message`, to a client that sent too many wrong keys or links. */
export const countWrongKey = async (client: string, message: string): Promise<void> => {
  const retryAfterSeconds = await registry().wrongKeys.count(client)
  if (retryAfterSeconds === undefined) return
  throw new Refusal('rate_limited', `${message}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds })
}
