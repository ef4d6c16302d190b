import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { createClient } from '#lib/client/client.ts'
import { hasPostgres, startPostgres, type TestPostgres } from '#lib/gateway/store/testing-postgres.ts'
import { freePort } from '#lib/service/testing/free-port.ts'
import { expect, isLive, signIn, startServiceAlone, test } from './product.ts'
import { screenText, untilPrompt } from './terminal-page.ts'

const hasNginx = spawnSync('nginx', ['-v']).status === 0
test.skip(!hasNginx || !hasPostgres, 'nginx or PostgreSQL is not installed')
test.describe.configure({ mode: 'default' })

let folder: string
let postgres: TestPostgres
let service: Awaited<ReturnType<typeof startServiceAlone>>
let nginx: ChildProcess
let origin: string
let ports: [number, number]
const consoles = new Map<number, ChildProcess>()

const root = join(import.meta.dirname, '..')

const startConsole = async (port: number) => {
  const child = spawn(process.execPath, ['server.ts'], {
    cwd: root,
    env: {
      ...process.env,
      PORT: String(port),
      DEVDECK_DATA_DIR: join(folder, String(port)),
      DEVDECK_STORE: postgres.url,
      DEVDECK_PEER_URL: `http://127.0.0.1:${port}`,
      DEVDECK_SERVICE_URL: service.url,
      DEVDECK_ORIGIN: origin,
      TRUST_PROXY: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  consoles.set(port, child)
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the console ended with ${code}`)))
    child.stdout.on('data', (chunk) => String(chunk).includes('console on') && resolve())
  })
}

const end = async (child: ChildProcess | undefined, signal: NodeJS.Signals) => {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

const startNginx = async (port: number) => {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  const servers = ports.map((each) => `server 127.0.0.1:${each} max_fails=3 fail_timeout=2s;`)
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; pid ${join(folder, 'pid')}; error_log /dev/null; events {} http { access_log off; ${temporary.join(' ')}
      map $http_upgrade $devdeck_connection { default upgrade; '' ''; }
      upstream devdeck { ${servers.join(' ')} keepalive 32; }
      server { listen 127.0.0.1:${port};
        location / { proxy_pass http://devdeck; proxy_http_version 1.1; proxy_set_header Host $http_host;
          proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection $devdeck_connection; } } }`,
  )
  nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'inherit', 'inherit'] })
}

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-consoles-'))
  ports = [await freePort(), await freePort()]
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  postgres = await startPostgres()
  service = await startServiceAlone()
  // The first one leads.
  await startConsole(ports[0])
  await startConsole(ports[1])
  await startNginx(port)
})

test.afterAll(async () => {
  await end(nginx, 'SIGTERM')
  for (const child of consoles.values()) await end(child, 'SIGTERM')
  await service.stop()
  await postgres.remove()
  rmSync(folder, { recursive: true, force: true })
  rmSync(service.dataDir, { recursive: true, force: true })
})

/** Calls one console as nginx would. */
const ask = async (port: number, cookie: string, method: string, path: string, body?: unknown) => {
  const headers = {
    host: new URL(origin).host,
    cookie,
    origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  }
  const asked = request({ host: '127.0.0.1', port, method, path, agent: false, headers })
  asked.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer] = await once(asked, 'response')
  return { status: Number(answer.statusCode), body: (await json(answer).catch(() => undefined)) as unknown }
}

test('one of two consoles dies under load: no read fails, terminals reattach, acknowledgments and sign-outs hold on both', async ({
  page,
}) => {
  const client = createClient({ baseUrl: service.url, headers: { authorization: `Bearer ${service.apiKey}` } })
  const { id } = await client.devboxes.createAndAwaitRunning({ body: { name: 'two-consoles' } })
  await expect.poll(async () => (await page.request.get(`${origin}/sign-in`).catch(() => null))?.status()).toBe(200)
  await signIn(page, { url: origin, apiKey: service.apiKey })
  const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  let timesReady = 0
  page.on('websocket', (socket) => {
    if (!socket.url().includes('/api/terminals/')) return
    socket.on('framereceived', ({ payload }) => {
      if (String(payload).startsWith('{"t":"ready"')) timesReady++
    })
  })
  await page.goto(`${origin}/devboxes/${id}/terminal`)
  await isLive(page)
  await untilPrompt(page)
  await page.keyboard.type('held=$((6 * 7))\n')

  const answers: { path: string; status?: number; failure?: string }[] = []
  let isLoading = true
  const load = ['/api/v1/devboxes', '/api/activity', '/api/alerts/health', '/devboxes'].map(async (path) => {
    while (isLoading)
      answers.push(
        // A page is streamed, so one that the dead console had begun is cut off.
        await page.request.get(origin + path, { maxRetries: path === '/devboxes' ? 1 : 0 }).then(
          (answer) => ({ path, status: answer.status() }),
          (error: Error) => ({ path, failure: error.message }),
        ),
      )
  })
  try {
    await expect.poll(() => answers.length).toBeGreaterThan(20)
    const killedAfter = answers.length
    const before = timesReady
    await end(consoles.get(ports[0]), 'SIGKILL')
    await expect.poll(() => timesReady).toBeGreaterThan(before)
    await isLive(page)
    await page.keyboard.type('echo "still $held"\n')
    await expect.poll(() => screenText(page)).toContain('still 42')
    await expect.poll(() => answers.length).toBeGreaterThan(killedAfter + 20)
    // Until it is ready, nginx uses the other one.
    await startConsole(ports[0])
  } finally {
    // Otherwise a failure would leave the calls running forever.
    isLoading = false
    await Promise.all(load)
  }
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])

  // The console that came back no longer leads, and serves both what it forwards and what it reads itself.
  expect((await ask(ports[0], cookie, 'POST', '/api/alerts/drills', { devbox_id: id, in_seconds: 600 })).status).toBe(
    200,
  )
  const open = async (port: number) => {
    const { body } = await ask(port, cookie, 'GET', '/api/alerts/history?state=new')
    return (body as { alerts: { id: string }[] }).alerts.map((alert) => alert.id)
  }
  await expect.poll(() => open(ports[1])).toHaveLength(1)
  const ids = await open(ports[0])
  expect((await ask(ports[0], cookie, 'POST', '/api/alerts/acknowledge', { ids })).status).toBe(200)
  for (const port of ports) {
    const { body } = await ask(port, cookie, 'GET', `/api/alerts/alert/${encodeURIComponent(ids[0] ?? '')}`)
    expect(body).toMatchObject({ state: 'acknowledged' })
    const { body: activity } = await ask(port, cookie, 'GET', '/api/activity')
    expect(JSON.stringify(activity)).toContain('alerts.acknowledge')
  }

  await postgres.stop()
  for (const port of ports) expect((await ask(port, cookie, 'GET', '/api/v1/devboxes')).status).toBe(200)
  await expect.poll(async () => (await ask(ports[0], cookie, 'DELETE', '/api/session')).status).toBe(503)
  await postgres.start()

  await expect.poll(async () => (await ask(ports[1], cookie, 'DELETE', '/api/session')).status).toBe(204)
  for (const port of ports)
    await expect
      .poll(async () => (await ask(port, cookie, 'GET', '/api/v1/devboxes')).status, { timeout: 1_000 })
      .toBe(401)
})
