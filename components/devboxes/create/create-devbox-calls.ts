import { curlPost, publicClient } from '#lib/browser/api/code-samples.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'

/** The call that makes such a devbox, for a shell. */
export const createDevboxCurl = (body: DevboxCreate, serviceUrl: string): string =>
  curlPost(serviceUrl, '/v1/devboxes', JSON.stringify(body, null, 2))

/** The same with the public client. */
export const createDevboxTypeScript = (body: DevboxCreate, serviceUrl: string): string =>
  `${publicClient(serviceUrl)}
const devbox = await client.devboxes.createAndAwaitRunning(${JSON.stringify(body, null, 2)})
console.log(devbox.id)
`
