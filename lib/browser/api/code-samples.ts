/** A curl command that posts `body`, which is JSON and may span lines. */
export const curlPost = (serviceUrl: string, path: string, body: string): string =>
  `curl ${serviceUrl}${path} \\
  -H "Authorization: Bearer $DEVDECK_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${body.replaceAll("'", "'\\''")}'`

const packageName = "'@runloop/api-client'"

export const publicClient = (serviceUrl: string): string =>
  `import Runloop from ${packageName}

const client = new Runloop({
  baseURL: ${JSON.stringify(serviceUrl)},
  bearerToken: process.env.DEVDECK_API_KEY,
})
`
