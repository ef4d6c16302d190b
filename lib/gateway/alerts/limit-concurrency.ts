/** Runs at most `max` calls at once; the others wait in order. */
export const limitConcurrency = <Args extends unknown[], Result>(
  max: number,
  call: (...args: Args) => Promise<Result>,
): ((...args: Args) => Promise<Result>) => {
  const waiting: (() => void)[] = []
  let running = 0
  return async (...args) => {
    if (running < max) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await call(...args)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
