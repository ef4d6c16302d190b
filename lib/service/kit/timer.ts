/** setTimeout is limited to 31 bits of milliseconds (24.8 days); longer delays fire immediately. */
export const maxTimerMs = 2 ** 31 - 1

export const at = (deadlineMs: number, run: () => void): (() => void) => {
  let timer: NodeJS.Timeout
  const arm = () => {
    const left = deadlineMs - Date.now()
    timer = left > maxTimerMs ? setTimeout(arm, maxTimerMs) : setTimeout(run, Math.max(0, left))
    timer.unref()
  }
  arm()
  return () => clearTimeout(timer)
}
