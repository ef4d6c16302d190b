import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { registry } from './registry.ts'

const prefix = '/_terminal/'

/** Where `scripts/terminal-bundle.ts` puts what is served from here; what development builds is not part of a build. */
export const terminalFolder = (root: string, { dev = false } = {}): string =>
  join(root, dev ? '.next/terminal-dev' : '.next/terminal')

/** What is in `folder` now, under names that stand for their content. Throws when there is no script of terminals. */
export const terminalScripts = (folder: string) => {
  const files = new Map(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [`${prefix}${name}`, readFileSync(join(folder, name))]),
  )
  const path = [...files.keys()].find((each) => each.startsWith(`${prefix}terminal-`))
  if (path === undefined) throw new Error(`There is no script of terminals in ${folder}`)
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
  return { path, answer }
}

/** A document that shows a terminal. */
export const showsTerminal = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.rsc === undefined && new URLSearchParams(url.split('?', 2)[1]).get('tab') === 'terminal'

/**
 * Has the page that answers `request` begin with its terminal: React's scripts stay without effect until that calls
 * `bringToLife`, or for a second. Next has no setting for this, and writes these pages in one go: they are changed when
 * they are complete.
 */
export const putTerminalFirst = (request: IncomingMessage, response: ServerResponse): void => {
  const nonce = /'nonce-([^']+)'/.exec(String(request.headers['content-security-policy']))?.[1] ?? ''
  const zips = takesGzip(request)
  // What Next has compressed could not be changed.
  request.headers['accept-encoding'] = 'identity'
  const pieces: Buffer[] = []
  const take = (chunk: unknown) => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) pieces.push(Buffer.from(chunk))
  }
  const { end } = response
  Object.assign(response, {
    // Nothing is sent before all of it is known.
    flushHeaders() {},
    write(chunk: unknown) {
      take(chunk)
      return true
    },
    end(chunk?: unknown) {
      take(chunk)
      const body = Buffer.concat(pieces)
      if (!String(response.getHeader('content-type')).startsWith('text/html')) return end.call(response, body, 'utf8')
      const held = holdScripts(body.toString(), nonce)
      if (!zips || response.headersSent) return end.call(response, held, 'utf8')
      response.setHeader('content-encoding', 'gzip')
      return end.call(response, gzipSync(held, { level: 3 }), 'utf8')
    },
  })
}

const takesGzip = ({ headers }: IncomingMessage) => /\bgzip\b/.test(String(headers['accept-encoding']))

const holdScripts = (html: string, nonce: string): string =>
  html
    .replace(/<script src="[^"]*" [^>]*async=""/g, '$& type="text/held"')
    .replace(
      '<head>',
      () =>
        `<head><script nonce="${nonce}">${bringToLife}</script>` +
        `<script type="module" async="" src="${registry().terminalScript}" nonce="${nonce}"></script>`,
    )

/** A script that was inserted as held never runs; a copy of it does. */
const bringToLife = `bringToLife=()=>{for(const held of document.querySelectorAll('script[type="text/held"]')){
const script=document.createElement('script');script.async=true;script.src=held.getAttribute('src');held.replaceWith(script)}};
addEventListener('DOMContentLoaded',()=>setTimeout(bringToLife,1000))`
