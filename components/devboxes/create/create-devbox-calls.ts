import { curlPost } from '#lib/browser/api/curl-post.ts'
import { publicClient } from '#lib/browser/api/public-client.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'

/** The call that makes such a devbox, for a shell. */
export const createDevboxCurl = (body: DevboxCreate, serviceUrl: string): string =>
  // In single quotes, which end and begin anew around each one inside.
  curlPost(serviceUrl, '/v1/devboxes', JSON.stringify(body, null, 2).replaceAll("'", "'\\''"))

/** The same with the public client. */
export const createDevboxTypeScript = (body: DevboxCreate, serviceUrl: string): string =>
  `${publicClient(serviceUrl)}
const devbox = await client.devboxes.createAndAwaitRunning(${JSON.stringify(body, null, 2)})
console.log(devbox.id)
`
