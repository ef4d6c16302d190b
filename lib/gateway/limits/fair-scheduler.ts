const queues = new Map<string, (() => void)[]>()
let isScheduled = false
let lastTurnMs = 0
/** Idles after a turn while several accounts wait, longer with a longer queue, to leave room for other requests. */
const pause = { minFactor: 2, maxFactor: 8, maxMs: 16 }

/** Runs `turn` once it is this account's turn: one turn per event loop round, accounts in rotation. */
export const scheduleTurn = (account: string, turn: () => void): void => {
  const queue = queues.get(account)
  if (queue) queue.push(turn)
  else queues.set(account, [turn])
  scheduleNext()
}

/** Whether other turns are queued, so that this one should be short. */
export const hasOtherWaiters = (): boolean => queues.size > 0

const sliceMs = 10

/** Runs a generator to its end, in slices of a few milliseconds per turn. */
export const runInTurns = <T>(account: string, steps: Generator<void, T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const turn = () => {
      const end = performance.now() + sliceMs
      try {
        while (performance.now() < end) {
          const step = steps.next()
          if (step.done) return resolve(step.value)
        }
        scheduleTurn(account, turn)
      } catch (error) {
        reject(error)
      }
    }
    scheduleTurn(account, turn)
  })

const scheduleNext = (): void => {
  if (isScheduled) return
  isScheduled = true
  const waiting = [...queues.values()].reduce((count, { length }) => count + length, 0)
  const { minFactor, maxFactor, maxMs } = pause
  const pauseMs = Math.max(minFactor * lastTurnMs, Math.min(maxMs, Math.min(waiting, maxFactor) * lastTurnMs))
  if (waiting > 1) setTimeout(runNext, pauseMs)
  else setImmediate(runNext)
}

const runNext = (): void => {
  const [first] = queues
  const startedMs = performance.now()
  try {
    if (!first) return
    const [account, queue] = first
    const turn = queue.shift()
    // Moves the account to the end of the rotation.
    queues.delete(account)
    if (queue.length > 0) queues.set(account, queue)
    turn?.()
  } finally {
    lastTurnMs = performance.now() - startedMs
    isScheduled = false
    if (queues.size > 0) scheduleNext()
  }
}
