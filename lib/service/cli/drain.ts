import { countOf } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { runningService } from '#lib/service/store/data-dir.ts'
import type { CommandLine } from './command-line.ts'

export const drain = async ({ dataDir, deadlineSeconds }: CommandLine) => {
  const running = runningService(dataDir)
  if (!running) throw new StartError(`No service is running on the data folder ${dataDir}`)
  const { pid, address, operatorToken } = running
  if (!address) throw new StartError(`The service on ${dataDir} (pid ${pid}) is still starting; try again`)
  const response = await fetch(`${address}/local/drain`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ deadline_seconds: deadlineSeconds }),
  }).catch((error: unknown) => {
    throw new StartError(`The service at ${address} (pid ${pid}) isn't responding: ${reasonOf(error)}`)
  })
  const body = (await response.json()) as { message?: string; devboxes: number; eviction_deadline_ms: number }
  if (!response.ok)
    throw new StartError(`The service at ${address} rejected the request: ${body.message ?? response.status}`)
  console.log(
    body.devboxes === 0
      ? 'No devboxes are running or starting'
      : `Scheduled the suspension of ${countOf(body.devboxes, 'devbox', 'devboxes')} at ${new Date(body.eviction_deadline_ms).toISOString()}`,
  )
}

const reasonOf = (error: unknown) => {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message : message
}
