import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { clientId } from './client-id.ts'

// Unspecified: wrong keys per client and minute. A correct key always passes, because many clients can share one
// address. Keys are too long to guess (see minKeyLength).
export const wrongKeysPerMinute = 20

/** Unspecified: minimum length of an API key; 16 random characters have about 80 bits. */
export const minKeyLength = 16

export type WrongKeyLimit = ReturnType<typeof createWrongKeyLimit>

/** Shared by the service and the console. */
export const createWrongKeyLimit = () => {
  const limiter = new RateLimiterMemory({ points: wrongKeysPerMinute, duration: 60 })
  return {
    /** Resolves to the seconds to wait, or undefined below the limit. */
    count: (address: string): Promise<number | undefined> =>
      limiter.consume(clientId(address)).then(
        () => undefined,
        ({ msBeforeNext }: RateLimiterRes) => Math.ceil(msBeforeNext / 1000),
      ),
  }
}
