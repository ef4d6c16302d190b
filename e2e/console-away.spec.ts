import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { parseEvents } from '#lib/client/events.ts'
import { freePort } from '#lib/service/testing/free-port.ts'
import { terminalClose } from '#lib/wire/terminals.ts'
import { expect, isLive, type Product, signIn, startProduct, startServiceAlone, test } from './product.ts'

/** The console itself: `npm start` is a shell around it. */
const consolePid = ({ pid }: Product): number => {
  const children = (of: number): number[] =>
    readFileSync(`/proc/${of}/task/${of}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const found = [pid, ...children(pid), ...children(pid).flatMap(children)].find((each) =>
    readFileSync(`/proc/${each}/cmdline`, 'utf8').split('\0').includes('server.ts'),
  )
  if (!found) throw new Error('npm start runs no server.ts')
  return found
}

test('a console that is killed is said so at once, and its pages come back by themselves', async ({ page }) => {
  const service = await startServiceAlone()
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-e2e-'))
  const started: { stop(): Promise<void> }[] = [service]
  const environment = {
    DEVDECK_SERVICE_URL: service.url,
    DEVDECK_DATA_DIR: dataDir,
    PORT: String(await freePort()),
  }
  try {
    const first = await startProduct(environment)
    started.push(first)
    const { url } = first
    await signIn(page, { url, apiKey: service.apiKey })
    const other = await page.context().newPage()
    for (const [each, path] of [
      [other, '/evictions'],
      [page, '/devboxes'],
    ] as const) {
      await each.goto(url + path)
      await isLive(each)
    }
    await page.getByRole('button', { name: 'Create devbox' }).first().click()
    const name = page.getByRole('dialog').getByLabel(/^Name/)
    await name.fill('typed while it was away')

    process.kill(consolePid(first), 'SIGKILL')
    for (const each of [page, other]) {
      // By its words: what is behind a dialog has no role.
      await expect(each.getByText('Reconnecting', { exact: true }).first()).toBeVisible()
      await expect(each.getByText('Live', { exact: true })).toHaveCount(0)
    }
    started.push(await startProduct(environment))
    await isLive(other)
    await expect(page.getByText('Live', { exact: true }).first()).toBeVisible()
    await expect(name).toHaveValue('typed while it was away')
    await page.getByRole('dialog').getByRole('button', { name: 'Create devbox' }).click()
    await expect(page).toHaveURL(/\/devboxes\/dbx_/)
  } finally {
    for (const each of started.reverse()) await each.stop()
    for (const folder of [service.dataDir, dataDir]) rmSync(folder, { recursive: true, force: true })
  }
})

test('a console that is ended tells every stream and terminal, and ends although a download is not read', async () => {
  const product = await startProduct()
  const { url } = product
  const origin = { origin: url }
  const answer = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { ...origin, 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: product.apiKey }),
  })
  const headers = { ...origin, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'left' } })
  await product.service.executions.executeSync({ params: { id }, body: { command: 'head -c 64M /dev/zero > big' } })

  const streams = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const { body } = await fetch(`${url}/api/evictions`, { headers })
      if (!body) throw new Error('There is no stream')
      const events = parseEvents(body)
      await events.next()
      return events
    }),
  )
  const terminals = await Promise.all(
    Array.from({ length: 5 }, async (_, number) => {
      const address = `${url.replace('http', 'ws')}/api/terminals/${id}/shell-${number}?cols=80&rows=24`
      const socket = new WebSocket(address, { headers })
      await once(socket, 'message')
      return { closed: once(socket, 'close') }
    }),
  )
  const download = await fetch(`${url}/api/v1/devboxes/${id}/download_file`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ path: 'big' }),
  })
  expect(download.status).toBe(200)

  const ended = product.stop()
  for (const events of streams) {
    const names: (string | undefined)[] = []
    for await (const { event, data } of events) names.push(event === 'bye' ? data : event)
    expect(names.at(-1)).toBe('{"reason":"restarting"}')
  }
  for (const { closed } of terminals) expect((await closed)[0]).toBe(terminalClose.consoleRestarting)
  await ended
  // What was not read in time is broken off, never handed over as if it were whole.
  await expect(download.arrayBuffer()).rejects.toThrow()
})
