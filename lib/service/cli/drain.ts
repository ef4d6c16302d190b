import { countOf } from '#lib/service/kit/amounts.ts'
import { callOperator } from './call-operator.ts'
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
