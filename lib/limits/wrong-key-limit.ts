import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { clientId } from './client-id.ts'

/**
 * Unspecified: how many wrong keys a client may send in a minute. A right key always passes: all programs of a machine,
 * or behind a proxy, share an address, and none may lock out the others. Keys are too long to guess (see minKeyLength).
 */
export const wrongKeysPerMinute = 20

/** Unspecified: the shortest API key that is taken. 16 random characters have about 80 bits. */
export const minKeyLength = 16

export type WrongKeyLimit = ReturnType<typeof createWrongKeyLimit>

/** The one rule for wrong keys, of the service and of the console. */
export const createWrongKeyLimit = () => {
  const limiter = new RateLimiterMemory({ points: wrongKeysPerMinute, duration: 60 })
  return {
    /** Counts a wrong key. Resolves to the seconds the client has to wait, or undefined below the limit. */
    count: (address: string): Promise<number | undefined> =>
      limiter.consume(clientId(address)).then(
        () => undefined,
        ({ msBeforeNext }: RateLimiterRes) => Math.ceil(msBeforeNext / 1000),
      ),
  }
}
