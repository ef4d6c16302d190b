/** A call that makes something, for a shell; `body` is JSON that may be laid out over several lines. */
export const curlPost = (serviceUrl: string, path: string, body: string): string =>
  `curl ${serviceUrl}${path} \\
  -H "Authorization: Bearer $DEVDECK_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${body}'`
