import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { TestService } from '#lib/service/testing/service.ts'
import { answerTerminalFirst, showsTerminal } from './terminal-page.ts'
import { startTerminals, TestPage } from './terminals/testing.ts'
import type { TestConsole } from './testing.ts'

let service: TestService
let gateway: TestConsole
let cookie: string
let devboxId: string
beforeAll(async () => {
  ;({ service, gateway, cookie, devboxId } = await startTerminals())
  gateway.registry.terminalScripts = { path: '/_terminal/terminal-1.js', first: 'first()' }
})
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

const html = 'text/html; charset=utf-8'
const nonce = 'nonce="abc=="'
const fonts = '</a.woff2>; rel=preload; as="font"; nonce="abc=="; type="font/woff2"'
const styles = '</a.css>; rel=preload; as="style"'
const head =
  '<meta charSet="utf-8"/><link rel="preload" href="/_next/l.js" as="script"/>' +
  `<script src="/_next/a.js" async="" ${nonce}></script><script src="/_next/b.js" noModule="" ${nonce}></script>`
const body = `<body>größer<script ${nonce}>self.x=1</script><script src="/_next/c.js" ${nonce} async=""></script></body></html>`
const document = ['<!DOCTYPE html><html lang="en"><head>', head, '</head>', body]

/** In place of Next: headers first, then whatever there is. */
const answers =
  (pieces: (string | Uint8Array)[], type = html) =>
  async (_: IncomingMessage, to: ServerResponse) => {
    to.setHeader('content-type', type)
    to.setHeader('link', [`${fonts}, ${styles}`])
    to.flushHeaders()
    for (const piece of pieces.slice(0, -1)) to.write(piece)
    to.end(pieces.at(-1))
  }

const serve = async (handle: Parameters<typeof answerTerminalFirst>[2]): Promise<string> => {
  const server = createServer((request, response) => {
    request.headers['content-security-policy'] = "script-src 'self' 'nonce-abc=='"
    void answerTerminalFirst(request, response, handle)
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/devboxes/${devboxId}?tab=terminal`
}

const own = `<script ${nonce}>first()</script><script type="module" async="" blocking="render" src="/_terminal/terminal-1.js" ${nonce}></script>`

describe('a page that begins with its terminal', () => {
  it('holds back the scripts of React, and nothing else', async () => {
    const text = await (await fetch(await serve(answers(document)))).text()
    expect(text).toContain('<script src="/_next/a.js" async="" type="text/held" nonce="abc==">')
    expect(text).toContain('<script src="/_next/c.js" nonce="abc==" async="" type="text/held">')
    expect(text).toContain('<link rel="held" href="/_next/l.js" as="script"/>')
    const rest = text.replaceAll(' type="text/held"', '').replace('rel="held"', 'rel="preload"')
    expect(rest).toBe(document.join('').replace('<head>', `<head>${own}`))
  })

  it('does so wherever the answer is cut into pieces', async () => {
    const whole = await (await fetch(await serve(answers(document)))).text()
    const bytes = Buffer.from(document.join(''))
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) => bytes.subarray(7 * i, 7 * i + 7))
    expect(await (await fetch(await serve(answers(pieces)))).text()).toBe(whole)
  })

  it('is compressed for whoever takes that, and for nobody else', async () => {
    const url = await serve(answers(document))
    expect((await fetch(url)).headers.get('content-encoding')).toBe('gzip')
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBe(null)
    expect(await plain.text()).toBe(await (await fetch(url)).text())
  })

  it('leaves an answer that is no document as it is', async () => {
    const answer = await fetch(await serve(answers(['{"html":"<head>"}'], 'application/json')))
    expect(await answer.text()).toBe('{"html":"<head>"}')
    expect(answer.headers.get('content-encoding')).toBe(null)
  })

  it('keeps the status and the headers of Next', async () => {
    const missing = await fetch(
      await serve(
        async (_, to) => void to.writeHead(404, { 'content-type': html, 'x-own': '1', vary: 'rsc' }).end('<head>'),
      ),
    )
    expect(missing.status).toBe(404)
    expect(missing.headers.get('x-own')).toBe('1')
    expect(missing.headers.get('vary')).toBe('rsc')
    const moved = await fetch(await serve(async (_, to) => void to.writeHead(307, { location: '/sign-in' }).end()), {
      redirect: 'manual',
    })
    expect([moved.status, moved.headers.get('location')]).toEqual([307, '/sign-in'])
  })

  it('tells Next of a browser that leaves', async () => {
    const leaves = new AbortController()
    const left = Promise.withResolvers<void>()
    const url = await serve(async (_, to) => {
      to.once('close', left.resolve)
      leaves.abort()
    })
    await expect(fetch(url, { signal: leaves.signal })).rejects.toThrow()
    await left.promise
  })

  it('is only a document that shows one', () => {
    const asked = (url: string, { method = 'GET', headers = {} } = {}) =>
      showsTerminal({ url, method, headers } as IncomingMessage)
    expect(asked('/devboxes/dbx_1?tab=terminal&t=main')).toBe(true)
    expect(asked('/devboxes/dbx_1?tab=logs')).toBe(false)
    expect(asked('/devboxes/dbx_1')).toBe(false)
    expect(asked('/devboxes/dbx_1?tab=terminal', { headers: { rsc: '1' } })).toBe(false)
    expect(asked('/devboxes/dbx_1?tab=terminal', { method: 'POST' })).toBe(false)
  })
})

describe('the page of a devbox with a terminal that was opened lately', () => {
  beforeAll(async () => {
    const page = new TestPage(gateway, `/api/terminals/${devboxId}/main?cols=80&rows=24`, { cookie })
    await page.told({ t: 'ready' })
    await page.leave()
  })

  /** What arrives before Next has answered, and after. */
  const inTwo = async (answer: ReturnType<typeof answers>, headers: Record<string, string>) => {
    const goOn = Promise.withResolvers<void>()
    const url = await serve(async (request, to) => {
      await goOn.promise
      await answer(request, to)
    })
    const early = Promise.race([fetch(url, { headers }), new Promise<undefined>((late) => setTimeout(late, 300))])
    const response = await early
    if (!response) {
      goOn.resolve()
      return undefined
    }
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const first = (await reader?.read())?.value ?? ''
    goOn.resolve()
    let rest = ''
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) rest += next.value
    return { response, first, rest }
  }

  it('begins before Next has answered, with what comes first in it', async () => {
    const { response, first, rest } = (await inTwo(answers(document), { cookie })) ?? {}
    expect(first).toBe(`<!DOCTYPE html><html><head>${own}`)
    expect(rest).toMatch(
      /^<html lang="en"><head><link href="\/a.woff2" rel=preload as="font" nonce="abc==" type="font\/woff2"\/><meta/,
    )
    expect(rest).toContain('größer')
    expect(rest?.match(/type="text\/held"/g)).toHaveLength(2)
    expect(response?.headers.get('content-type')).toBe(html)
    expect(response?.headers.get('cache-control')).toContain('no-store')
  })

  it('leads where Next says, also when it says so late', async () => {
    const moved = async (_: IncomingMessage, to: ServerResponse) =>
      void to.writeHead(307, { location: '/sign-in?next=%2F&"x' }).end()
    const { rest } = (await inTwo(moved, { cookie })) ?? {}
    expect(rest).toContain('<meta http-equiv="refresh" content="0;url=/sign-in?next=%2F&amp;&quot;x"/>')
  })

  it('waits for Next where that might say otherwise: nobody is signed in', async () => {
    expect(await inTwo(answers(document), {})).toBe(undefined)
    expect(await inTwo(answers(document), { cookie: cookie.replace(/.{20}$/, 'x'.repeat(20)) })).toBe(undefined)
  })
})
