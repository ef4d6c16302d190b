import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const prefix = '/_terminal/'

/** Where `scripts/terminal-bundle.ts` puts what is served from here; what development builds is not part of a build. */
export const terminalFolder = (root: string, { dev = false } = {}): string =>
  join(root, dev ? '.next/terminal-dev' : '.next/terminal')

/**
 * What is in `folder` now, under names that stand for their content: `path` leads to the script of terminals, `first` is
 * what stands in a page before it. Throws when they are not there.
 */
export const terminalScripts = (folder: string) => {
  const files = new Map(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [`${prefix}${name}`, readFileSync(join(folder, name))]),
  )
  const find = (name: string) => [...files].find(([path]) => path.startsWith(`${prefix}${name}-`))
  const [path] = find('terminal') ?? []
  const [, first] = find('first') ?? []
  if (path === undefined || first === undefined) throw new Error(`There is no script of terminals in ${folder}`)
  const zipped = new Map([...files].map(([path, content]) => [path, gzipSync(content)]))
  /** Answers requests for what is here. False for all others. */
  const answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    const [asked = ''] = (request.url ?? '').split('?', 1)
    const zips = takesGzip(request)
    const body = (zips ? zipped : files).get(asked)
    if (!body || (request.method !== 'GET' && request.method !== 'HEAD')) return false
    response.writeHead(200, {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      'content-length': body.length,
      ...(zips && { 'content-encoding': 'gzip' }),
    })
    response.end(request.method === 'HEAD' ? undefined : body)
    return true
  }
  return { path, first: first.toString(), answer }
}

export const takesGzip = ({ headers }: IncomingMessage) => /\bgzip\b/.test(String(headers['accept-encoding']))
