import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { constants, createGzip } from 'node:zlib'
import { sessionOf } from './accounts/session-cookie.ts'
import { registry } from './registry.ts'
import { takesGzip } from './terminal-script.ts'
import { wasOpenedLately } from './terminals/upstream.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** A document that shows a terminal. */
export const showsTerminal = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.rsc === undefined && new URLSearchParams(url.split('?', 2)[1]).get('tab') === 'terminal'

/**
 * Answers with the page that `handle` of Next makes, which begins with its terminal: React's scripts stay without effect
 * until that calls `bringToLife`, or for a second. Next has no setting for this, and writes these pages in one go: they
 * are changed when they are complete.
 *
 * A browser takes as long to get ready for a page as Next to make it. Where no other answer can come, the page's
 * beginning is sent ahead.
 */
export const answerTerminalFirst = async (
  request: IncomingMessage,
  response: ServerResponse,
  handle: Handle,
): Promise<void> => {
  const page = new TerminalPage(request, response)
  // What Next has compressed could not be changed.
  request.headers['accept-encoding'] = 'identity'
  const answer = new KeptAnswer(request, (body) => page.end(answer, body))
  response.once('close', () => answer.finished || answer.emit('close'))
  if (await isOfDevbox(request)) page.begin()
  await handle(request, answer)
}

/** Whether it asks for the page of a devbox that is surely there, by someone who is signed in. */
const isOfDevbox = async ({ url = '', headers }: IncomingMessage): Promise<boolean> => {
  const [, devboxId] = /^\/devboxes\/([\w-]+)\?/.exec(url) ?? []
  const session = devboxId && (await sessionOf((name) => headers[name]?.toString()))
  return Boolean(session && wasOpenedLately({ apiKey: session.api_key, devboxId }))
}

/** What Next takes for the response; passed on when it is complete. */
class KeptAnswer extends ServerResponse {
  readonly #passOn: (body: Buffer) => void
  readonly #pieces: Buffer[] = []

  constructor(request: IncomingMessage, passOn: (body: Buffer) => void) {
    super(request)
    this.#passOn = passOn
  }

  override flushHeaders(): void {}

  override writeHead(status: number, ...rest: unknown[]): this {
    this.statusCode = status
    const headers = rest.at(-1)
    if (typeof headers === 'object' && headers)
      for (const [name, value] of Object.entries(headers)) this.setHeader(name, value)
    return this
  }

  override write(chunk: unknown): boolean {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.#pieces.push(Buffer.from(chunk))
    return true
  }

  override end(chunk?: unknown): this {
    if (this.finished) return this
    this.finished = true
    this.write(chunk)
    this.#passOn(Buffer.concat(this.#pieces))
    this.emit('finish')
    return this
  }
}

/** The page on its way to the browser. */
class TerminalPage {
  readonly #response: ServerResponse
  readonly #nonce: string
  readonly #zips: boolean
  #out: NodeJS.WritableStream | undefined

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#response = response
    this.#nonce = /'nonce-([^']+)'/.exec(String(request.headers['content-security-policy']))?.[1] ?? ''
    this.#zips = takesGzip(request)
  }

  /** Sends what stands first in every such page. */
  begin(): void {
    const cacheControl = 'private, no-cache, no-store, max-age=0, must-revalidate'
    this.#out = this.#open(200, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': cacheControl,
      vary: 'accept-encoding',
    })
    this.#out.write(`<!DOCTYPE html><html><head>${this.#scripts}`)
  }

  end(answer: ServerResponse, body: Buffer): void {
    const isDocument = String(answer.getHeader('content-type')).startsWith('text/html')
    const html = isDocument ? holdScripts(body.toString()) : ''
    // The second <html> gives its attributes to the first, and the second <head> is ignored: all parsers have to do so.
    if (this.#out && isDocument)
      this.#out.end(html.replace('<!DOCTYPE html>', '').replace('<head>', () => `<head>${preloadsOf(answer)}`))
    else if (this.#out) this.#out.end(moveTo(answer))
    else if (isDocument)
      this.#open(answer.statusCode, answer.getHeaders()).end(html.replace('<head>', () => `<head>${this.#scripts}`))
    else this.#response.writeHead(answer.statusCode, answer.getHeaders()).end(body)
  }

  #open(status: number, headers: OutgoingHttpHeaders): NodeJS.WritableStream {
    const response = this.#response
    if (!this.#zips) return response.writeHead(status, headers)
    response.writeHead(status, { ...headers, 'content-encoding': 'gzip' })
    const zip = createGzip({ level: 3, flush: constants.Z_SYNC_FLUSH })
    pipeline(zip, response, () => undefined)
    return zip
  }

  get #scripts(): string {
    const nonce = `nonce="${this.#nonce}"`
    const { path, first } = registry().terminalScripts
    return `<script ${nonce}>${first}</script><script type="module" async="" blocking="render" src="${path}" ${nonce}></script>`
  }
}

const holdScripts = (html: string): string =>
  html
    .replace(/<script src="[^"]*" [^>]*async=""/g, '$& type="text/held"')
    .replace(/<link rel="preload"(?=[^>]* as="script")/g, '<link rel="held"')

/** The fonts a header names, which can no longer be sent; the style sheet it names as well is in the page. */
const preloadsOf = (answer: ServerResponse): string =>
  [answer.getHeader('link') ?? []]
    .flat()
    .join(', ')
    .split(', ')
    .filter((each) => each.includes('as="font"'))
    .map((each) =>
      each.replace(/^<([^>]*)>; (.*)$/, (_, href, rest) => `<link href="${href}" ${rest.replaceAll(';', '')}/>`),
    )
    .join('')

const moveTo = (answer: ServerResponse): string => {
  const address = String(answer.getHeader('location') ?? '/')
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
  return `<meta http-equiv="refresh" content="0;url=${address}"/></head></html>`
}
