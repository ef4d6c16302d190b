/** What of each account waits for its turn, oldest first. */
const waiting = new Map<string, (() => void)[]>()
let isRoundAhead = false
let tookMs = 0
/**
 * While several wait, everything else has the event loop for as many times as long as a turn took, up to `most`: two
 * terminals that print hardly hold each other up, and fifty leave the calls of others their time. After a long turn, as
 * of a job that is masked, twice as long is enough.
 */
const rest = { least: 2, most: 8, ms: 16 }

/**
 * Runs `turn` when it is this account's turn. Only one is run in each round of the event loop, and accounts take turns
 * with each other: however many terminals of one print, and whatever it has masked, the calls of all others go on
 * between two. A page that is drawn takes dozens of rounds, so one round between two turns is not enough.
 */
export const scheduleTurn = (account: string, turn: () => void): void => {
  const queue = waiting.get(account)
  if (queue) queue.push(turn)
  else waiting.set(account, [turn])
  nextRound()
}

/** Whether others wait as well, so that a turn should be short. */
export const hasOtherWaiters = (): boolean => waiting.size > 0

const stepsMs = 10

/** Runs steps to their end, a few milliseconds of them in each turn of the account. */
export const runInTurns = <T>(account: string, steps: Generator<void, T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const turn = () => {
      const end = performance.now() + stepsMs
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

const nextRound = (): void => {
  if (isRoundAhead) return
  isRoundAhead = true
  const crowd = [...waiting.values()].reduce((count, { length }) => count + length, 0)
  const restMs = Math.max(rest.least * tookMs, Math.min(rest.ms, Math.min(crowd, rest.most) * tookMs))
  if (crowd > 1) setTimeout(runOne, restMs)
  else setImmediate(runOne)
}

const runOne = (): void => {
  const [first] = waiting
  const began = performance.now()
  try {
    if (!first) return
    const [account, queue] = first
    const turn = queue.shift()
    // The account goes behind those that wait.
    waiting.delete(account)
    if (queue.length > 0) waiting.set(account, queue)
    turn?.()
  } finally {
    tookMs = performance.now() - began
    isRoundAhead = false
    if (waiting.size > 0) nextRound()
  }
}
