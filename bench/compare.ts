interface Comparison {
  limit: number
  rounds: number
  /** The quantile to compare; 0.5 is the median. */
  quantile: number
  ours: () => Promise<unknown>
  docker: () => Promise<unknown>
  /** Not measured. */
  afterRound?: () => Promise<unknown>
}

/** Runs both alternately, and prints their times and the ratio. */
export const compare = async (
  what: string,
  { limit, rounds, quantile, ours, docker, afterRound }: Comparison,
): Promise<void> => {
  const times = { ours: [] as number[], docker: [] as number[] }
  const timed = async (action: () => Promise<unknown>) => {
    const startMs = performance.now()
    await action()
    return performance.now() - startMs
  }
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const [oursMs, dockerMs] = [await timed(ours), await timed(docker)]
    if (round > 0) {
      times.ours.push(oursMs)
      times.docker.push(dockerMs)
    }
    await afterRound?.()
  }
  const [oursMs, dockerMs] = [quantileOf(times.ours, quantile), quantileOf(times.docker, quantile)]
  console.log(
    `${what} (p${quantile * 100} of ${rounds}): ${oursMs.toFixed(0)} ms, docker ${dockerMs.toFixed(0)} ms, ratio ${(oursMs / dockerMs).toFixed(2)} (<= ${limit})`,
  )
}

export const quantileOf = (values: readonly number[], quantile: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * quantile))] ?? 0
