/** Rejects as soon as `signal` aborts; the work itself continues. */
export const orAborted = async (work: Promise<void>, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
