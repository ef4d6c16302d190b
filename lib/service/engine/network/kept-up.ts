import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

const againMs = 500

/**
 * A process that is started again when it ends unasked, until `end`. Rejects when the first start does; `onLost` is
 * called when a later one fails.
 */
export const keptUp = async (start: () => Promise<ChildProcess>, onLost: () => void): Promise<{ end(): void }> => {
  let isEnded = false
  let child = await start()
  const keepUp = async () => {
    while (!isEnded) {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      if (!isEnded) await delay(againMs, undefined, { ref: false })
      if (isEnded) return
      child = await start()
      if (isEnded) child.kill('SIGKILL')
    }
  }
  keepUp().catch(() => isEnded || onLost())
  return {
    end() {
      isEnded = true
      child.kill('SIGKILL')
    },
  }
}
