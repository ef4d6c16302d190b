import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, createClient } from '#lib/client/client.ts'
import { documentedMetrics } from '#lib/metrics/documented-metrics.ts'
import { sharedDocker } from '#lib/service/testing/docker.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import { attach } from '#lib/service/testing/terminals.ts'

// Several accounts require isolation.
const isolated = strongestIsolation === 'bubblewrap'

let dataDir: string
const running: ReturnType<typeof runCommand>[] = []
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'devdeck-commands-'))
})
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }

  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })
})

const command = (...args: string[]) => runCommand([...args, '--data-dir', dataDir]).ended
const serve = async (...more: string[]) => {
  const started = runCommand(['--port', '0', '--isolation', 'none', '--data-dir', dataDir, ...more])
  running.push(started)
  return { ...started, url: await started.ready }
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const accountOf = async (url: string, key: string) =>
  (await (await fetch(`${url}/v1/accounts/me`, { headers: bearer(key) })).json()).id
const ownKey = () => readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
const clientOf = (url: string) => createClient({ baseUrl: url, headers: bearer(ownKey()) })

describe('keys', () => {
  it.runIf(isolated)('can be created before the first start and are listed without their values', async () => {
    const added = await command('keys', 'add', '--account', 'team', '--name', 'the CI')
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ak_[\w-]{32}\n$/) })
    expect(added.stderr).toContain(`in the new data folder ${dataDir}`)
    expect((await command('keys', 'add')).stderr).not.toContain('new data folder')
    const key = added.stdout.trim()
    const list = await command('keys', 'list')
    expect(list.stdout).toMatch(/^key_\w+ +team +the CI +\d{4}-\S+Z +- +- +keys add$/m)
    expect(list.stdout + list.stderr).not.toContain(key)
    const { url } = await serve('--isolation', 'bubblewrap')
    expect([await accountOf(url, key), await accountOf(url, ownKey())]).toEqual(['team', 'local'])
    for (const file of readdirSync(dataDir).filter(
      (name) => statSync(join(dataDir, name)).isFile() && name !== 'api-key',
    ))
      expect(readFileSync(join(dataDir, file), 'latin1')).not.toContain(key)
  })

  it("are those of the console's data folder without --data-dir", async () => {
    const added = await runCommand(['keys', 'add', '--name', 'of the console'], { DEVDECK_DATA_DIR: dataDir }).ended
    expect(added.code).toBe(0)
    const { stdout } = await runCommand(['keys', 'list', '--data-dir', join(dataDir, 'service')]).ended
    expect(stdout).toContain('of the console')
  })

  it('can be revoked while the service runs, which closes their streams', async () => {
    const { url } = await serve()
    const { stdout } = await command('keys', 'add')
    const key = stdout.trim()
    const stream = await fetch(`${url}/v1/devboxes/evictions/watch`, { headers: bearer(key) })
    const text = stream.text()
    const id = /^(key_\w+)/m.exec((await command('keys', 'list')).stdout)?.[1] ?? ''
    expect(await command('keys', 'revoke', id)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is revoked'),
    })
    expect((await fetch(`${url}/v1/axons`, { headers: bearer(key) })).status).toBe(401)
    expect(await text).toContain('"code":"401"')
    expect((await fetch(`${url}/v1/axons`, { headers: bearer(ownKey()) })).status).toBe(200)
    expect((await command('keys', 'revoke', id)).stdout).toContain('already revoked')
    expect((await command('keys', 'list')).stdout).toMatch(new RegExp(`^${id} .*Z +- +\\d{4}-\\S+Z +keys add$`, 'm'))
  })

  it.each([
    [['keys'], 'unknown command keys'],
    [['keys', 'add', '--account', 'a b'], '--account must be 1 to 64'],
    [['keys', 'add', '--name', 'a\nb'], '--name must be 1 to 100 printable characters'],
    [['keys', 'add', '--port', '1'], "keys add doesn't accept --port"],
    [['keys', 'revoke'], 'keys revoke requires ID'],
    [['keys', 'revoke', 'key_1'], 'Key key_1 not found'],
    [['drain'], 'No service is running on'],
    [['drain', 'node-1', 'node-2'], 'drain: unexpected node-2'],
    [['activate'], 'activate requires NODE'],
    [['drain', 'node-1', '--for', '1m'], 'drain --for stops the whole service'],
    [['drain', '--cancel', '--for', '1m'], "drain --cancel can't be combined with a node or a time"],
    [['drain', '--deadline', '8d'], '--deadline must be a duration of at most 7d'],
    [['prune'], 'No service is running on'],
    [['prune', '--older-than', 'never'], '--older-than must be 0 or a time such as 12h or 30d'],
    [['serve', '--min-free-disk', '10X'], '--min-free-disk must be a size'],
    [['serve', '--deadline', '10m'], "serve doesn't accept --deadline"],
  ])('reports one line for %j', async (args, message) => {
    const { code, stdout, stderr } = await command(...args)
    expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 1, stdout: '', lines: 1 })
    expect(stderr).toContain(message)
  })
})

describe('--metrics-port', () => {
  it('serves metrics and readiness, and --log-requests logs requests without their queries', async () => {
    const { url, output } = await serve('--metrics-port', '0', '--log-requests')
    await clientOf(url).devboxes.createAndAwaitRunning({ body: {} })
    await fetch(`${url}/v1/axons?search=private`, { headers: { ...bearer(ownKey()), 'x-request-id': 'request-1' } })
    await fetch(`${url}/v1/devboxes/dbx_missing`, { headers: bearer(ownKey()) })
    // Not earlier: the console's pages show the output before this line as startup progress.
    const base = /listening on .*\nMetrics on (\S+)\/metrics/.exec(output.stdout)?.[1]
    const read = async (path: string) => {
      const response = await fetch(`${base}${path}`)
      return { status: response.status, text: await response.text() }
    }
    const { text } = await read('/metrics')
    expect(text).toContain('devdeck_http_request_duration_seconds_count{operation="devboxes.get",status="404"} 1')
    expect(text).toContain('devdeck_devboxes{status="running"} 1')
    expect(text).toMatch(/devdeck_disk_bytes\{kind="free"\} [1-9]/)
    expect(text).toMatch(/devdeck_database_bytes\{file="database"\} [1-9]/)
    for (const name of documentedMetrics('service')) expect(text).toContain(`# TYPE ${name} `)
    expect(await read('/readyz')).toMatchObject({ status: 200, text: expect.stringContaining('"database":"ok"') })
    const logged = () =>
      output.stderr
        .split('\n')
        .filter((line) => line.includes('"message":"request"'))
        .map((line) => JSON.parse(line))
    await expect.poll(logged).toContainEqual({
      time: expect.any(String),
      level: 'info',
      message: 'request',
      request_id: 'request-1',
      method: 'GET',
      path: '/v1/axons',
      operation: 'axons.list',
      account: 'local',
      status: 200,
      duration_ms: expect.any(Number),
    })
    expect(output.stdout + output.stderr).not.toContain('private')
  })
})

describe('prune', () => {
  it('reports what it would delete, then deletes it', async () => {
    const { devboxes } = clientOf((await serve()).url)
    const { id } = await devboxes.createAndAwaitRunning({ body: {} })
    await devboxes.shutdown({ params: { id } })
    const counted = /1 devbox, 0 commands, 0 jobs, 0 runs, 0 scenario runs: \d/
    expect((await command('prune')).stdout).toContain('Deleted 0 devboxes')
    expect((await command('prune', '--older-than', '0', '--dry-run')).stdout).toMatch(
      new RegExp(`^Would delete ${counted.source}`),
    )
    expect((await command('doctor')).stdout).toMatch(/ storage +.*database \d/)
    expect((await command('prune', '--older-than', '0')).stdout).toMatch(new RegExp(`^Deleted ${counted.source}`))
    expect((await devboxes.list({ query: {} })).devboxes).toEqual([])
  })
})

describe('drain', () => {
  it.runIf(isolated)('suspends the devboxes of all accounts at the deadline, including new ones', async () => {
    const { url } = await serve('--isolation', 'bubblewrap')
    const key = (await command('keys', 'add', '--account', 'other')).stdout.trim()
    const [mine, theirs] = [clientOf(url), createClient({ baseUrl: url, headers: bearer(key) })]
    const [a, b] = [
      await mine.devboxes.createAndAwaitRunning({ body: {} }),
      await theirs.devboxes.createAndAwaitRunning({ body: {} }),
    ]
    expect((await command('drain', '--deadline', '2s')).stdout).toMatch(
      /^Scheduled the suspension of 2 devboxes at \S+Z\n$/,
    )
    const later = await mine.devboxes.create({ body: {} })
    const seen: string[] = []
    for await (const { devbox_id } of mine.evictions.watch({})) if (seen.push(devbox_id) === 2) break
    expect(seen.sort()).toEqual([a.id, later.id].sort())
    const suspended = { statuses: ['suspended' as const] }
    for (const [client, { id }] of [
      [mine, a],
      [mine, later],
      [theirs, b],
    ] as const)
      expect(await client.devboxes.waitForStatus({ params: { id }, body: suspended })).toMatchObject({
        status: 'suspended',
      })
    await mine.devboxes.resume({ params: { id: a.id } })
    expect(await mine.devboxes.waitForStatus({ params: { id: a.id }, body: { statuses: ['running'] } })).toMatchObject({
      status: 'running',
    })
  })

  it('with --for rejects new work, lets a command finish, stops with 0, and starts the devbox again', async () => {
    const { url, ended } = await serve('--isolation', isolated ? 'bubblewrap' : 'none')
    const { devboxes, executions, drain } = clientOf(url)
    const { id } = await devboxes.createAndAwaitRunning({ body: { name: 'busy' } })
    expect(await drain.state()).toEqual({ stop: null })
    const body = { command: 'touch ~/begun; until [ -e ~/go ]; do sleep 0.02; done; echo done' }
    const { execution_id } = await executions.executeAsync({ params: { id }, body })
    const has = async (path: string) =>
      (await executions.executeSync({ params: { id }, body: { command: `test -e ${path}` } })).exit_status === 0
    await expect.poll(() => has('~/begun')).toBe(true)
    const waiting = command('drain', '--for', '10m')
    await expect
      .poll(async () => (await drain.state()).stop)
      .toMatchObject({
        commands: 1,
        trials: 0,
        running: [{ kind: 'command', id: execution_id, name: body.command, devbox_id: id, devbox_name: 'busy' }],
        devboxes_restarting: 1,
        restarting: [{ id, name: 'busy' }],
        devboxes_staying: 0,
      })
    const rejected = await fetch(`${url}/v1/devboxes`, { method: 'POST', headers: bearer(ownKey()), body: '{}' })
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '15'])
    expect(((await rejected.json()) as { message: string }).message).toContain('The service is about to restart')
    const finish = { params: { id }, query: {}, body: { file_path: 'go', contents: '' } }
    await clientOf(url).files.write(finish)
    expect((await ended).code).toBe(0)
    expect((await waiting).stdout).toMatch(
      new RegExp(
        `^Waiting until \\S+Z for 1 task to finish .*:\n  command "touch ~/begun; .*…" \\(${execution_id}\\) in "busy" \\(${id}\\)\nThe service has stopped\n$`,
      ),
    )
    const next = clientOf((await serve('--isolation', isolated ? 'bubblewrap' : 'none')).url)
    const params = { devbox_id: id, execution_id }
    expect(await next.executions.get({ params })).toMatchObject({
      status: 'completed',
      exit_status: 0,
      stdout: 'done\n',
    })
    const running = { statuses: ['running' as const] }
    expect(await next.devboxes.waitForStatus({ params: { id }, body: running })).toMatchObject({ status: 'running' })
  })

  it('with --for stops at the deadline and logs what was running', async () => {
    const { url, ended } = await serve('--isolation', isolated ? 'bubblewrap' : 'none', '--drain-seconds', '0')
    const { id } = await clientOf(url).devboxes.createAndAwaitRunning({ body: {} })
    const sleeping = { params: { id }, body: { command: 'sleep 1000' } }
    const { execution_id } = await clientOf(url).executions.executeAsync(sleeping)
    expect((await command('drain', '--for', '1s')).stdout).toContain('The service has stopped at the deadline')
    const { code, stderr } = await ended
    expect(code).toBe(0)
    expect(stderr).toContain(`Stopping at the deadline with 1 task running: ${execution_id}`)
  })

  it('--cancel accepts work again and ends a waiting --for; a program in a shell counts as work', async () => {
    const { url } = await serve('--isolation', isolated ? 'bubblewrap' : 'none')
    const { devboxes, drain, terminals } = clientOf(url)
    expect((await command('drain', '--cancel')).stdout).toBe('No stop is planned\n')
    const { id } = await devboxes.createAndAwaitRunning({ body: {} })
    const session = await terminals.connect({ params: { session_name: `${id}-main` }, query: {} })
    const shell = attach({ url }, session.connect_url ?? '')
    await shell.opened
    shell.type('sleep 1000\r')
    const waiting = command('drain', '--for', '10m')
    await expect
      .poll(async () => (await drain.state()).stop)
      .toMatchObject({ shells: 1, running: [{ kind: 'shell', devbox_id: id, program: 'sleep' }] })
    expect((await command('drain', '--cancel')).stdout).toContain('The stop is canceled')
    expect(await waiting).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(new RegExp(`^  shell .* in ${id}, `, 'm')),
      stderr: expect.stringContaining('The stop was canceled'),
    })
    expect(await drain.state()).toEqual({ stop: null })
    expect((await devboxes.createAndAwaitRunning({ body: {} })).status).toBe('running')
    shell.socket.terminate()
  })

  it('requires the operator token, which is valid for nothing else', async () => {
    const { url } = await serve()
    const token = readFileSync(join(dataDir, 'operator-token'), 'utf8').trim()
    expect((statSync(join(dataDir, 'operator-token')).mode & 0o777).toString(8)).toBe('600')
    const drain = (authorization?: string) =>
      fetch(`${url}/local/drain`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) },
        body: '{"deadline_seconds":60}',
      })
    expect((await drain()).status).toBe(401)
    expect((await drain('Bearer wrong')).status).toBe(401)
    expect((await drain(`Bearer ${ownKey()}`)).status).toBe(403)
    expect((await drain(`Bearer ${token}`)).status).toBe(200)
    for (const [method, path] of [
      ['GET', '/local/stop'],
      ['POST', '/local/stop/cancel'],
    ] as const)
      expect((await fetch(`${url}${path}`, { method, headers: bearer(ownKey()) })).status).toBe(403)
    expect((await fetch(`${url}/v1/axons`, { headers: bearer(token) })).status).toBe(401)
    expect((await command('drain', 'node-1', '--in', '1m')).stderr).toContain('This service has no cluster')
  })
})

describe('a signal', () => {
  const watch = (url: string) => fetch(`${url}/v1/devboxes/evictions/watch`, { headers: bearer(ownKey()) })

  it('notifies watchers, waits, and restarts the devboxes at the next start', async () => {
    const first = await serve('--drain-seconds', '1')
    const { id } = await clientOf(first.url).devboxes.createAndAwaitRunning({ body: {} })
    const text = (await watch(first.url)).text()
    const signaledMs = Date.now()
    first.child.kill('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 0 })
    const deadlineMs = Number(/"eviction_deadline_ms":(\d+)/.exec(await text)?.[1])
    expect(await text).toContain(id)
    expect(deadlineMs).toBeGreaterThanOrEqual(signaledMs + 900)
    expect(Date.now()).toBeGreaterThanOrEqual(deadlineMs)
    expect(readdirSync(dataDir)).not.toContain('operator-token')
    const { url } = await serve()
    expect(
      await clientOf(url).devboxes.waitForStatus({ params: { id }, body: { statuses: ['running'] } }),
    ).toMatchObject({ status: 'running' })
    const still = await clientOf(url)
      .evictions.cancel({ params: { devbox_id: id } })
      .catch((error: unknown) => error)
    expect(still).toMatchObject({ status: 404 })
  })

  it('sent twice skips the wait', async () => {
    const { child, ended, url } = await serve('--drain-seconds', '600')
    await clientOf(url).devboxes.createAndAwaitRunning({ body: {} })
    const client = clientOf(url)
    child.kill('SIGTERM')
    for await (const _ of client.evictions.watch({})) break
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 0 })
  })
})

describe('an unexpected error', () => {
  it.each(['throw new Error("boom")', 'Promise.reject(new Error("boom"))'])(
    'is logged and exits with 1 (%s)',
    async (code) => {
      const hook = `data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${code} })`)}`
      const started = runCommand(['--port', '0', '--isolation', 'none', '--data-dir', dataDir], {
        NODE_OPTIONS: `--import=${hook}`,
      })
      running.push(started)
      await started.ready
      started.child.kill('SIGUSR2')
      const { code: exitCode, stderr } = await started.ended
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(/"message":"Stopping after an unexpected error: boom","stack":"/)
      expect((await fetch(`${(await serve()).url}/healthz`)).status).toBe(200)
    },
  )
})

describe('pressure', () => {
  const watchFor = async (client: Client, count: number) => {
    const ids: string[] = []
    for await (const { devbox_id } of client.evictions.watch({})) if (ids.push(devbox_id) === count) break
    return ids
  }

  it('evicts the least recently used devbox first, one at a time', async () => {
    const { url, output } = await serve('--min-free-memory', '1P', '--eviction-notice', '1s')
    const client = clientOf(url)
    const ids: string[] = []
    // Watch first: a devbox may be evicted a second after it starts.
    const second = watchFor(client, 2)
    for (let i = 0; i < 2; i++) {
      const { id } = await client.devboxes.create({ body: {} })
      await client.devboxes.waitForStatus({ params: { id }, body: { statuses: ['running', 'suspended'] } })
      ids.push(id)
    }
    expect(await second).toEqual(ids)
    expect(await client.devboxes.get({ params: { id: ids[0] ?? '' } })).toMatchObject({ status: 'suspended' })
    await expect.poll(() => output.stderr).toMatch(/Low on memory: \d+ MiB of memory free, minimum 1073741824 MiB/)
    await expect.poll(() => output.stderr.match(/is the least recently used and will be evicted at/g)).toHaveLength(2)
  })

  it('evicts only the devbox that is filling the disk', async () => {
    const { url, output } = await serve('--min-free-disk', '1P', '--eviction-notice', '1s')
    const client = clientOf(url)
    const [idle, filling] = [
      await client.devboxes.createAndAwaitRunning({ body: { name: 'idle' } }),
      await client.devboxes.createAndAwaitRunning({ body: { name: 'filling' } }),
    ]
    const first = watchFor(client, 1)
    await client.executions.executeSync({
      params: { id: filling.id },
      body: { command: 'head -c 3M /dev/urandom > ~/f' },
    })
    expect(await first).toEqual([filling.id])
    const suspended = { statuses: ['suspended' as const] }
    await client.devboxes.waitForStatus({ params: { id: filling.id }, body: suspended })
    await expect.poll(() => output.stderr).toMatch(/is filling the disk and will be evicted at/)
    expect(await client.devboxes.get({ params: { id: idle.id } })).toMatchObject({ status: 'running' })
  })
})

describe('environments clear', () => {
  it('deletes environments and installs that no devbox uses', async () => {
    const at = (...path: string[]) => join(dataDir, ...path)
    const [free, used, base] = ['environment-1', 'environment-2', 'base-1'].map((name) => at('environments', name))
    for (const folder of [free, used, base, at('devboxes', 'dbx_1', 'system')])
      mkdirSync(folder ?? '', { recursive: true, mode: 0o700 })
    writeFileSync(at('environments', 'environment-1', 'built'), 'built')
    mkdirSync(at('agent-installs'), { mode: 0o700 })
    for (const name of ['a.tar', 'b.tar', 'b.tar.0123']) writeFileSync(at('agent-installs', name), 'installed')
    const image = { bytes: 2 ** 20, usedMs: 0, builtFor: 'composed' }
    writeFileSync(at('task-images.json'), JSON.stringify({ 'devdeck/task:1': image }))
    const note = { base, layers: [{ folder: used, firstUid: 1 }] }
    writeFileSync(at('devboxes', 'dbx_1', 'system', 'made-of.json'), JSON.stringify(note))
    const list = (await command('environments', 'list')).stdout.split('\n')
    expect(list[2]).toBe('   1.0 MiB  1970-01-01T00:00:00Z  composed (image)')
    expect(list[3]).toMatch(/^3 built environments, [\d.]+ MiB$/)
    expect(list.slice(0, 2)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^ +[\d.]+ (B|KiB) {2}in use now {12}environment-2$/),
        expect.stringMatching(/^ +[\d.]+ KiB {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}environment-1$/),
      ]),
    )
    expect(await command('environments', 'clear')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^Deleted 1 built environment \([\d.]+ KiB\) and 2 agent installs; kept 2 folders in use\n1 image of the container engine/,
      ),
    })
    expect(readdirSync(at('environments')).sort()).toEqual(['base-1', 'environment-2'])
    expect(readdirSync(at('agent-installs'))).toEqual([])
  })
})

describe('doctor', () => {
  it('reports the state and problems', async () => {
    rmSync(dataDir, { recursive: true })
    const before = await command('doctor')
    expect(before).toMatchObject({ code: 0, stderr: '' })
    expect(before.stdout).toContain("doesn't exist yet")
    expect(() => statSync(dataDir)).toThrow(/ENOENT/)

    const { url, child } = await serve()
    await command('keys', 'add')
    const { stdout, code } = await command('doctor')
    expect(code).toBe(0)
    for (const word of [process.versions.node, process.versions.sqlite, `running at ${url} (pid ${child.pid})`])
      expect(stdout).toContain(word)
    expect(stdout).toMatch(/^ +database +ok, schema \d+$/m)
    expect(stdout).toMatch(/^ +keys +1 created with keys add, 0 revoked, 1 in api-key$/m)

    const short = await command('doctor', '--min-free-disk', '1P')
    expect(short.code).toBe(1)
    expect(short.stdout).toMatch(/^wrong disk .* below 1.0 PiB$/m)
    child.kill('SIGSTOP')
    const stopped = await command('doctor')
    expect(stopped.code).toBe(1)
    expect(stopped.stdout).toMatch(/^wrong service +not responding/m)
    expect(stopped.stdout).not.toContain(ownKey())
  })

  it('reports a container engine that is required and missing', async () => {
    const { code, stdout } = await command('doctor', '--engine', `unix://${dataDir}/none.sock`)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^wrong engine +The container engine at unix:\S+none\.sock can't be reached: ENOENT$/m)
    expect((await command('doctor', '--engine', 'none')).stdout).toMatch(/^ +engine +no container engine; images/m)
  })

  it.runIf(hasDocker)('reports a container engine and what this service has in it', async () => {
    const docker = await sharedDocker()
    const engine = ['--engine', docker.url]
    const { url } = await serve('--isolation', 'container', '--image', await docker.image('busybox'), ...engine)
    await clientOf(url).devboxes.createAndAwaitRunning({ body: {} })
    const { code, stdout } = await command('doctor', ...engine)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ +engine +unix:\S+: .*\d+\.\d+.*, API 1\.\d+$/m)
    expect(stdout).toMatch(/^ +engine +storage \w+, cgroup v[12] \(\w+\); memory, cpu, pids; disk per file$/m)
    expect(stdout).toMatch(/^ +engine +1 container, 0 images and 1 network of this service$/m)
  })
})
