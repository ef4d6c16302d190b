import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { AgentUsage } from '#lib/contract/agent-usage.ts'

/** Values of JSON take many times the bytes of their text. */
const maxHeapMb = 1024

/**
 * What the text of a trajectory says of tokens and cost; undefined where it is none. It is parsed in a thread of its own:
 * an agent can write one that takes seconds, in which nobody else's call would be answered.
 */
export const readTrajectory = async (text: string): Promise<AgentUsage | undefined> => {
  const worker = new Worker(new URL('./trajectory-worker.ts', import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  })
  const [usage] = (await once(worker, 'message')) as [AgentUsage | undefined]
  return usage
}
