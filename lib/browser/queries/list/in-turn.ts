/** The part of the time between two readings after which another one is due: timers are not exact. */
export const dueAfter = 0.9

const turnMs = 10

/** Does work of this name in one tab of the browser after the other, so that each knows what those before it have read. */
export const inTurn = async (name: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> => {
  // Where the page came unsafely there are no locks; each tab then works for itself.
  if (!navigator.locks) return work()
  await navigator.locks.request(`devdeck-list ${name}`, { signal }, async () => {
    // What the tab before has told comes another way than the lock, and is here two turns of the event loop later.
    for (let turns = 0; turns < 2; turns++) await new Promise((done) => setTimeout(done, turnMs))
    await work()
  })
}
