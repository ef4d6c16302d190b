import { setTimeout as delay } from 'node:timers/promises'
import type { drain as endpoints, RunningWork } from '#lib/contract/drain.ts'
import type { EndpointResult } from '#lib/contract/endpoint.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import { callOperator } from './call-operator.ts'
import type { CommandLine } from './command-line.ts'

type DrainStopped = EndpointResult<typeof endpoints.stop>
type Pending = EndpointResult<typeof endpoints.pending>
type Canceled = EndpointResult<typeof endpoints.cancel>

const pollMs = 100
const pendingPolls = 10
const maxNameLength = 60

export const drain = async (line: CommandLine) => {
  const { dataDir, deadlineSeconds, stopWithinSeconds, cancelStop, words } = line
  if (cancelStop) return cancel(dataDir)
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

const cancel = async (dataDir: string) => {
  const { canceled } = await callOperator<Canceled>(dataDir, '/local/stop/cancel')
  console.log(canceled ? 'The stop is canceled, and the service accepts work again' : 'No stop is planned')
}

/** Lists what a stop would interrupt, and returns once the service has stopped. */
const stopAfterWork = async (dataDir: string, wait_seconds: number) => {
  const pid = runningService(dataDir)?.pid
  const { deadline_ms, running } = await callOperator<DrainStopped>(dataDir, '/local/stop', { wait_seconds })
  console.log(
    running.length === 0
      ? 'No running work would be interrupted'
      : `Waiting until ${new Date(deadline_ms).toISOString()} for ${countOf(running.length, 'task')} to finish (cancel with drain --cancel):`,
  )
  for (const each of running) console.log(`  ${describe(each)}`)
  for (let polls = 1; pid !== undefined && runningService(dataDir)?.pid === pid; polls++) {
    if (polls % pendingPolls === 0 && (await isCanceled(dataDir)))
      throw new StartError('The stop was canceled, and the service accepts work again')
    await delay(pollMs)
  }
  console.log(
    Date.now() < deadline_ms
      ? 'The service has stopped'
      : 'The service has stopped at the deadline. Its log lists what was interrupted',
  )
}

/** False while the service is stopping and no longer responds. */
const isCanceled = async (dataDir: string): Promise<boolean> => {
  try {
    const { running } = await callOperator<Pending>(dataDir, '/local/stop', undefined, 'GET')
    return running === null
  } catch {
    return false
  }
}

const describe = ({ kind, id, name, devbox_id, devbox_name, program }: RunningWork): string => {
  const named = kind === 'shell' || !name ? id : `${quoted(name)} (${id})`
  const use = kind === 'shell' ? (program ? `, running ${printable(program)}` : ', used recently') : ''
  const place = devbox_name ? `${quoted(devbox_name)} (${devbox_id})` : devbox_id
  return `${kind} ${named}${place ? ` in ${place}` : ''}${use}`
}

const printable = (text: string) => text.replace(/\p{Cc}+/gu, ' ')

const quoted = (text: string) => {
  const line = printable(text)
  return JSON.stringify(line.length > maxNameLength ? `${line.slice(0, maxNameLength - 1)}…` : line)
}

export const activate = async ({ dataDir, words: [node = ''] }: CommandLine) => {
  await callOperator(dataDir, `${nodePath(node)}/activate`)
  console.log(`Node ${node} is active`)
}

const nodePath = (node: string) => `/local/cluster/nodes/${encodeURIComponent(node)}`
