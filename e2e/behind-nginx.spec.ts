import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '#lib/service/testing/free-port.ts'
import { expect, isLive, type Product, signIn, startProduct, test } from './product.ts'
import { screenText, untilPrompt } from './terminal-page.ts'

const hasNginx = spawnSync('nginx', ['-v']).status === 0
test.skip(!hasNginx, 'nginx is not installed')
test.use({ ignoreHTTPSErrors: true })
test.describe.configure({ mode: 'default' })

let folder: string
let nginx: ChildProcess
let product: Product
let origin: string

/** The shipped configuration, with ports and paths of the test. */
const startNginx = async (port: number, consolePort: number) => {
  const tls = join(folder, 'tls')
  mkdirSync(tls)
  const subject = ['-subj', '/CN=localhost', '-days', '1', '-nodes']
  const [key, certificate] = [join(tls, 'privkey.pem'), join(tls, 'fullchain.pem')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  })
  const site = readFileSync(join(import.meta.dirname, '../packaging/nginx.conf'), 'utf8')
    .replaceAll('devdeck.example.com', 'localhost')
    .replaceAll('/etc/ssl/devdeck', tls)
    .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('127.0.0.1:3000', `127.0.0.1:${consolePort}`)
  const file = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  writeFileSync(
    file,
    `daemon off; pid ${join(folder, 'pid')}; error_log stderr warn; events {} http { access_log off; ${temporary.join(' ')}\n${site} }`,
  )
  nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'inherit', 'inherit'] })
}

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-nginx-'))
  const port = await freePort()
  origin = `https://localhost:${port}`
  const consolePort = await freePort()
  product = await startProduct({
    PORT: String(consolePort),
    DEVDECK_ORIGIN: origin,
    TRUST_PROXY: '1',
    DEVDECK_LOG: 'json',
    DEVDECK_LOG_REQUESTS: '1',
  })
  await startNginx(port, consolePort)
})

test.afterAll(async () => {
  const closed = once(nginx, 'exit')
  nginx.kill('SIGTERM')
  await closed
  await product.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('pages, live connections, terminals and large files work behind nginx with TLS', async ({ page }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'behind-nginx' } })
  await expect
    .poll(() =>
      page.request.get(`${origin}/sign-in`).then(
        (response) => response.status(),
        () => 0,
      ),
    )
    .toBe(200)
  await signIn(page, { url: origin, apiKey: product.apiKey })
  const cookies = await page.context().cookies(origin)
  expect(cookies.filter(({ httpOnly }) => httpOnly).every(({ secure }) => secure)).toBe(true)
  await page.goto(`${origin}/devboxes/${id}/terminal`)
  await isLive(page)
  await untilPrompt(page)
  await page.keyboard.type('echo $((6 * 7))\n')
  await expect.poll(() => screenText(page)).toContain('42')

  // Larger than any buffer of nginx, in both directions.
  const size = 40 * 1024 * 1024
  const content = Buffer.alloc(size, 'devdeck ')
  await page.goto(`${origin}/devboxes/${id}/files`)
  await isLive(page)
  const upload = await page.request.post(`${origin}/api/v1/devboxes/${id}/upload_file`, {
    headers: { origin },
    multipart: { path: 'large', file: { name: 'large', mimeType: 'application/octet-stream', buffer: content } },
  })
  expect(upload.status()).toBe(200)
  const download = await page.request.post(`${origin}/api/v1/devboxes/${id}/download_file`, {
    headers: { origin },
    data: { path: 'large' },
  })
  expect((await download.body()).equals(content)).toBe(true)

  // The request log has the client's path and no query, and ids that the service has as well.
  await page.request.get(`${origin}/api/v1/axons?search=private`, { headers: { 'x-request-id': 'through-nginx' } })
  await expect.poll(() => product.output()).toContain('"request_id":"through-nginx"')
  expect(product.output()).not.toContain('private')
})
