import { StartError } from '#lib/service/kit/errors.ts'
import { runningService } from '#lib/service/store/data-dir.ts'

/** Calls an operator endpoint of the service that runs on the data folder. Throws a StartError if none does. */
export const callOperator = async <T>(dataDir: string, path: string, request?: object, method = 'POST'): Promise<T> => {
  const running = runningService(dataDir)
  if (!running) throw new StartError(`No service is running on the data folder ${dataDir}`)
  const { pid, address, operatorToken } = running
  if (!address) throw new StartError(`The service on ${dataDir} (pid ${pid}) is still starting; try again`)
  const response = await fetch(`${address}${path}`, {
    method,
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
