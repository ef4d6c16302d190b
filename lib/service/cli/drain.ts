import { countOf } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import type { CommandLine } from './command-line.ts'

export const drain = async ({ dataDir, deadlineSeconds, words: [node] }: CommandLine) => {
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

export const activate = async ({ dataDir, words: [node = ''] }: CommandLine) => {
  await callOperator(dataDir, `${nodePath(node)}/activate`)
  console.log(`Node ${node} is active`)
}

const nodePath = (node: string) => `/local/cluster/nodes/${encodeURIComponent(node)}`

export const callOperator = async <T>(dataDir: string, path: string, request?: object): Promise<T> => {
  const running = runningService(dataDir)
  if (!running) throw new StartError(`No service is running on the data folder ${dataDir}`)
  const { pid, address, operatorToken } = running
  if (!address) throw new StartError(`The service on ${dataDir} (pid ${pid}) is still starting; try again`)
  const response = await fetch(`${address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    ...(request && { body: JSON.stringify(request) }),
  }).catch((error: unknown) => {
    throw new StartError(`The service at ${address} (pid ${pid}) isn't responding: ${reasonOf(error)}`)
  })
  const body = (await response.json()) as T & { message?: string }
  if (!response.ok)
    throw new StartError(`The service at ${address} rejected the request: ${body.message ?? response.status}`)
  return body
}

const reasonOf = (error: unknown) => {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message : message
}
