import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createRegistry, registry } from './registry.ts'
import { putTerminalFirst, showsTerminal, terminalScripts } from './terminal-script.ts'

const servers: Server[] = []
const folders: string[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})
beforeAll(() => {
  createRegistry({ config: {} as never, port: 0, origins: [], service: {} as never })
  registry().terminalScript = '/_terminal/terminal-1.js'
})

const serve = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  servers.push(server)
  await new Promise((listening) => server.once('listening', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a page that begins with its terminal', () => {
  const page = (pieces: (string | Uint8Array)[], type = 'text/html; charset=utf-8') =>
    serve((request, response) => {
      request.headers['content-security-policy'] = "script-src 'self' 'nonce-abc=='"
      putTerminalFirst(request, response)
      // As Next does: headers first, then whatever there is.
      expect(request.headers['accept-encoding']).toBe('identity')
      response.setHeader('content-type', type)
      response.flushHeaders()
      for (const piece of pieces.slice(0, -1)) response.write(piece)
      response.end(pieces.at(-1))
    })

  const next = [
    '<!DOCTYPE html><html><head><meta charSet="utf-8"/><script src="/_next/a.js" async="" nonce="abc=="></script>',
    '<script src="/_next/b.js" noModule="" nonce="abc=="></script></head><body>größer<script nonce="abc==">self.x=1',
    '</script><script src="/_next/c.js" nonce="abc==" async=""></script></body></html>',
  ]

  it('holds back the scripts of React, and nothing else', async () => {
    const html = await (await fetch(await page(next))).text()
    expect(html).toContain('<script src="/_next/a.js" async="" type="text/held" nonce="abc==">')
    expect(html).toContain('<script src="/_next/c.js" nonce="abc==" async="" type="text/held">')
    const own = html.slice(html.indexOf('<head>') + 6, html.indexOf('<meta'))
    expect(own.match(/<script [^>]*>/g)).toEqual([
      '<script nonce="abc==">',
      '<script type="module" async="" src="/_terminal/terminal-1.js" nonce="abc==">',
    ])
    expect(html.replace(own, '').replaceAll(' type="text/held"', '')).toBe(next.join(''))
  })

  it('does so wherever the answer is cut into pieces', async () => {
    const whole = await (await fetch(await page(next))).text()
    const bytes = Buffer.from(next.join(''))
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) => bytes.subarray(7 * i, 7 * i + 7))
    expect(await (await fetch(await page(pieces))).text()).toBe(whole)
  })

  it('is compressed for whoever takes that, and for nobody else', async () => {
    const url = await page(next)
    expect((await fetch(url)).headers.get('content-encoding')).toBe('gzip')
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBe(null)
    expect(await plain.text()).toBe(await (await fetch(url)).text())
  })

  it('leaves an answer that is no document as it is', async () => {
    const answer = await fetch(await page(['{"html":"<head>"}'], 'application/json'))
    expect(await answer.text()).toBe('{"html":"<head>"}')
    expect(answer.headers.get('content-encoding')).toBe(null)
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

describe('the script of terminals', () => {
  const built = () => {
    const folder = mkdtempSync(join(tmpdir(), 'terminal-script-'))
    folders.push(folder)
    mkdirSync(join(folder, 'inner'))
    writeFileSync(join(folder, 'terminal-Xy1.js'), 'export const a = 1')
    writeFileSync(join(folder, 'part-Z.js'), 'export {}')
    return folder
  }

  it('is found under the name it was built with, and missed when it was not', () => {
    expect(terminalScripts(built()).path).toBe('/_terminal/terminal-Xy1.js')
    const empty = built()
    rmSync(join(empty, 'terminal-Xy1.js'))
    expect(() => terminalScripts(empty)).toThrow('no script of terminals')
  })

  it('is served for good, and nothing beside it', async () => {
    const { answer } = terminalScripts(built())
    const url = await serve((request, response) => {
      if (!answer(request, response)) response.writeHead(404).end()
    })
    const script = await fetch(`${url}/_terminal/terminal-Xy1.js?1`)
    expect(script.headers.get('cache-control')).toContain('immutable')
    expect(script.headers.get('content-encoding')).toBe('gzip')
    expect(await script.text()).toBe('export const a = 1')
    const plain = await fetch(`${url}/_terminal/part-Z.js`, { headers: { 'accept-encoding': 'identity' } })
    expect(await plain.text()).toBe('export {}')
    expect((await fetch(`${url}/_terminal/part-Z.js`, { method: 'HEAD' })).status).toBe(200)
    for (const path of ['/_terminal/', '/_terminal/inner', '/_terminal/..%2fBUILD_ID', '/_terminal/a.js', '/part-Z.js'])
      expect((await fetch(url + path)).status, path).toBe(404)
    expect((await fetch(`${url}/_terminal/part-Z.js`, { method: 'POST' })).status).toBe(404)
  })
})
