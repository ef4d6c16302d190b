import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { AgentUsage } from '#lib/contract/agent-usage.ts'

/** Parsed JSON takes many times the size of its text. */
const maxHeapMb = 1024

/** Undefined if the text is not a trajectory. Parsing may take seconds, so it runs in a worker. */
export const readTrajectory = async (text: string): Promise<AgentUsage | undefined> => {
  const worker = new Worker(new URL('./trajectory-worker.ts', import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  })
  const [usage] = (await once(worker, 'message')) as [AgentUsage | undefined]
  return usage
}
