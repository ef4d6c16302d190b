import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { childrenOf, hasExited } from './engine/processes.ts'
import { readProc } from './kit/proc.ts'
import { runCommand } from './testing/process.ts'
import { attach } from './testing/terminals.ts'

let dataDir: string
const started: ChildProcess[] = []

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'devdeck-main-'))
})
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const run = (args: string[], environment: Record<string, string> = {}) => {
  const command = runCommand(['--isolation', 'none', ...args], environment)
  started.push(command.child)
  return command
}

const serve = (environment: Record<string, string> = {}, ...more: string[]) =>
  run(['--port', '0', '--data-dir', dataDir, ...more], environment)

describe('the command', () => {
  it('prints its address when ready and creates a valid key', async () => {
    const { child, ready, ended, output } = serve()
    const url = await ready
    expect(output.stdout).toBe(`Devdeck service listening on ${url} (data in ${dataDir})\n`)
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    expect(key).toMatch(/^ak_[\w-]{32}$/)
    expect((statSync(join(dataDir, 'api-key')).mode & 0o777).toString(8)).toBe('600')
    const account = await (await fetch(`${url}/v1/accounts/me`, { headers: { authorization: `Bearer ${key}` } })).json()
    expect(account).toMatchObject({ id: 'local' })
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, signal: null })
    expect(output.stdout + output.stderr).not.toContain(key)
  })

  it('hides its keys from /proc, also in child processes', async () => {
    const { child, ready } = serve({ DEVDECK_API_KEYS: 'one:swordfish-0123456789', NEAR: 'kept' })
    const url = await ready
    const headers = { authorization: 'Bearer swordfish-0123456789', 'content-type': 'application/json' }
    expect((await fetch(`${url}/v1/axons`, { headers })).status).toBe(200)
    const environment = readFileSync(`/proc/${child.pid}/environ`, 'latin1')
    expect(environment).toContain('NEAR=kept')
    expect(environment).not.toContain('swordfish-0123456789')
    for (const pid of childrenOf(child.pid ?? 0))
      expect(readProc(pid, 'environ') ?? '').not.toContain('swordfish-0123456789')
  })

  it('reads keys from a file descriptor', async () => {
    const { child, ready } = serve({}, '--keys-fd', '0')
    child.stdin?.end('one:ak_0123456789abc_1\n')
    const headers = { authorization: 'Bearer ak_0123456789abc_1' }
    expect((await fetch(`${await ready}/v1/axons`, { headers })).status).toBe(200)
  })

  it('accepts one account only without isolation', async () => {
    const { code, stderr } = await serve({ DEVDECK_API_KEYS: 'one:swordfish-0123456789,two:ak_0123456789abc_2' }).ended
    expect({ code, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 1 })
    expect(stderr).toContain('keys of 2 accounts (one, two). Install bubblewrap')
    expect(stderr).not.toContain('swordfish-0123456789')
    const url = await serve({ DEVDECK_API_KEYS: 'one:ak_0123456789abc_1,one:ak_0123456789abc_2' }).ready
    const added = await runCommand(['keys', 'add', '--account', 'two', '--data-dir', dataDir]).ended
    const response = await fetch(`${url}/v1/axons`, { headers: { authorization: `Bearer ${added.stdout.trim()}` } })
    expect([response.status, (await response.json()).message]).toEqual([
      403,
      expect.stringContaining('only keys of account one'),
    ])
  })

  it('stops when stdin closes, with --stop-with-parent', async () => {
    const { child, ready, ended } = serve({}, '--stop-with-parent')
    await ready
    child.stdin?.end()
    expect(await ended).toMatchObject({ code: 0 })
  })

  it('lists all operations', async () => {
    const { code, stdout } = await run(['operations']).ended
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ready GET +\/v1\/axons +axons\.list$/m)
    expect(stdout).toMatch(/^501 +POST +\/v1\/devboxes\/:id\/create_gateway_token +hostedOnly\.createGatewayToken$/m)
  })
})

describe('a running service', () => {
  it.each([
    ['uncaught exception', "throw new Error('on purpose')"],
    ['unhandled rejection', "Promise.reject(new Error('on purpose'))"],
  ])('logs an %s, exits with 1 and can be restarted', async (_, statement) => {
    const preload = `data:text/javascript,${encodeURIComponent(`process.once('SIGUSR2', () => { ${statement} })`)}`
    const { child, ready, ended } = serve({ NODE_OPTIONS: `--import=${preload}` })
    const url = await ready
    child.kill('SIGUSR2')
    expect(await ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Stopping after an unexpected error: on purpose'),
    })
    await expect(fetch(url)).rejects.toThrow()
    expect((await fetch(`${await serve().ready}/healthz`)).status).toBe(200)
  })

  it('that is killed loses its shells and reports new ones as created', async () => {
    const start = async () => {
      const { child, ready, ended } = serve()
      const url = await ready
      const authorization = `Bearer ${readFileSync(join(dataDir, 'api-key'), 'utf8').trim()}`
      return { url, child, ended, client: createClient({ baseUrl: url, headers: { authorization } }) }
    }
    const first = await start()
    const { id } = await first.client.devboxes.createAndAwaitRunning({ body: {} })
    const session = { params: { session_name: `${id}-main` }, query: { cols: 80, rows: 24 } }
    const { connect_url = '', created } = await first.client.terminals.connect(session)
    expect(created).toBe(true)
    const terminal = attach(first, connect_url)
    await terminal.opened
    terminal.type('echo "shell=$$="\n')
    const [, pid] = await terminal.shows(/shell=(\d+)=/)
    expect(await first.client.terminals.connect(session)).toMatchObject({ created: false, attached: true })
    first.child.kill('SIGKILL')
    await first.ended
    const second = await start()
    await second.client.devboxes.waitForStatus({ params: { id }, body: { statuses: ['running'] } })
    expect(await second.client.terminals.connect(session)).toMatchObject({ created: true, attached: false })
    await expect.poll(() => hasExited(Number(pid))).toBe(true)
  })
})

describe('start errors are one line and exit code 1:', () => {
  const refusal = async (ended: Promise<{ code: number | null; stdout: string; stderr: string }>) => {
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    return stderr.trimEnd()
  }

  it('a port in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as { port: number }
    expect(await refusal(run(['--port', String(port), '--data-dir', dataDir]).ended)).toContain(
      `Port ${port} on 127.0.0.1 is in use`,
    )
    holder.close()
  })

  it('a short key in the data folder', async () => {
    writeFileSync(join(dataDir, 'api-key'), 'swordfish\n')
    const line = await refusal(serve().ended)
    expect(line).toContain(`The key in ${join(dataDir, 'api-key')} is shorter than 16 characters`)
    expect(line).not.toContain('swordfish')
  })

  it.each([
    [['--port', 'x'], '--port must be a number from 0 to 65535'],
    [['--host', 'a b'], '--host must be'],
    [['--allow-host', 'http://x'], '--allow-host must be NAME or NAME:PORT'],
    [['--datasets', '/', '--datasets', '/nowhere'], '--datasets must be a folder'],
    [['--agent', 'oracle=true'], '--agent must be NAME=COMMAND'],
    [['--nonsense'], '--nonsense'],
    [['--port', 'x', '--host', 'a b'], '--host'],
  ])('the flags %j', async (flags, message) => {
    expect(await refusal(run(['--data-dir', dataDir, ...flags]).ended)).toContain(message)
  })

  it.each([
    ['swordfish-0123456789', 'entry 1 is not account:key'],
    ['a:swordfish-0123456789,b/:swordfish-01234567892', 'entry 2: the account must be'],
    ['a:swordfish-0123456789,b:', 'entry 2: the key must be 16 to 256'],
    ['a:swordfish-0123456789,b:swordfish-0123456789', 'entry 2 repeats a key'],
  ])('DEVDECK_API_KEYS=%s, without printing a key', async (keys, message) => {
    const line = await refusal(serve({ DEVDECK_API_KEYS: keys }).ended)
    expect(line).toContain(`DEVDECK_API_KEYS ${message}`)
    expect(line).not.toContain('swordfish-0123456789')
  })
})
