/** setTimeout takes 31 bits of milliseconds, 24.8 days; more fires at once. */
export const longestTimerMs = 2 ** 31 - 1

/** Calls `run` once the clock reaches `deadlineMs`, in the next turn if it has passed. The answer cancels it. */
export const at = (deadlineMs: number, run: () => void): (() => void) => {
  let timer: NodeJS.Timeout
  const arm = () => {
    const left = deadlineMs - Date.now()
    timer = left > longestTimerMs ? setTimeout(arm, longestTimerMs) : setTimeout(run, Math.max(0, left))
    timer.unref()
  }
  arm()
  return () => clearTimeout(timer)
}
