import { setTimeout as delay } from 'node:timers/promises'
import type { drain as endpoints } from '#lib/contract/drain.ts'
import type { EndpointResult } from '#lib/contract/endpoint.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import { callOperator } from './call-operator.ts'
import type { CommandLine } from './command-line.ts'

type DrainStopped = EndpointResult<typeof endpoints.stop>

const pollMs = 100

export const drain = async (line: CommandLine) => {
  const { dataDir, deadlineSeconds, stopWithinSeconds, words } = line
  if (stopWithinSeconds !== undefined) return stopAfterWork(dataDir, stopWithinSeconds)
  const [node] = words
  const path = node === undefined ? '/local/drain' : `${nodePath(node)}/drain`
  const { devboxes, eviction_deadline_ms } = await callOperator<{ devboxes: number; eviction_deadline_ms: number }>(
    dataDir,
    path,
    { deadline_seconds: deadlineSeconds },
  )
  const at = new Date(eviction_deadline_ms).toISOString()
  if (node !== undefined) console.log(`Node ${node} gets no new devboxes and will be drained at ${at}`)
  console.log(
    devboxes === 0
      ? `No devboxes are running or starting${node === undefined ? '' : ` on ${node}`}`
      : `Scheduled the suspension of ${countOf(devboxes, 'devbox', 'devboxes')} at ${at}`,
  )
}

/** Lists what a stop would interrupt, and returns once the service has stopped. */
const stopAfterWork = async (dataDir: string, wait_seconds: number) => {
  const pid = runningService(dataDir)?.pid
  const { deadline_ms, running } = await callOperator<DrainStopped>(dataDir, '/local/stop', { wait_seconds })
  console.log(
    running.length === 0
      ? 'Nothing is running that the stop would interrupt'
      : `Waiting until ${new Date(deadline_ms).toISOString()} for ${countOf(running.length, 'task')} to finish:`,
  )
  for (const { kind, id, devbox_id } of running) console.log(`  ${kind} ${id}${devbox_id ? ` in ${devbox_id}` : ''}`)
  while (pid !== undefined && runningService(dataDir)?.pid === pid) await delay(pollMs)
  console.log(
    Date.now() < deadline_ms
      ? 'The service has stopped'
      : 'The service has stopped at the deadline. Its log lists what was interrupted',
  )
}

export const activate = async ({ dataDir, words: [node = ''] }: CommandLine) => {
  await callOperator(dataDir, `${nodePath(node)}/activate`)
  console.log(`Node ${node} is active`)
}

const nodePath = (node: string) => `/local/cluster/nodes/${encodeURIComponent(node)}`
