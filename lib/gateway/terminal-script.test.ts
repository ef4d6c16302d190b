import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { terminalScripts } from './terminal-script.ts'

const servers: Server[] = []
const folders: string[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const serve = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  servers.push(server)
  await new Promise((listening) => server.once('listening', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the script of terminals', () => {
  const built = () => {
    const folder = mkdtempSync(join(tmpdir(), 'terminal-script-'))
    folders.push(folder)
    mkdirSync(join(folder, 'inner'))
    writeFileSync(join(folder, 'terminal-Xy1.js'), 'export const a = 1')
    writeFileSync(join(folder, 'part-Z.js'), 'export {}')
    writeFileSync(join(folder, 'first-Q.js'), 'first()')
    return folder
  }

  it('is found under the name it was built with, and missed when it was not', () => {
    expect(terminalScripts(built())).toMatchObject({ path: '/_terminal/terminal-Xy1.js', first: 'first()' })
    for (const name of ['terminal-Xy1.js', 'first-Q.js']) {
      const folder = built()
      rmSync(join(folder, name))
      expect(() => terminalScripts(folder)).toThrow('no script of terminals')
    }
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
