import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, expect, type Page } from '@playwright/test'
import { type Client, createClient } from '#lib/client/client.ts'
import { nameCookie } from '#lib/protocol/session.ts'

const root = join(import.meta.dirname, '..')

/** A console and its local service, started with `npm start` in a temporary folder. */
export interface Product {
  url: string
  signInLink: string
  serviceUrl: string
  apiKey: string
  /** Of the console; removed by `stop`. */
  dataDir: string
  /** Client that calls the service directly. */
  service: Client
  /** Process id of `npm start`. */
  pid: number
  output(): string
  /** Exit code once it ends; null after an unhandled signal. */
  ended: Promise<number | null>
  /** Ends it and returns the exit code. */
  stop(): Promise<number | null>
}

export const startProduct = async (environment: Record<string, string> = {}): Promise<Product> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-e2e-'))
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, PORT: '0', DEVDECK_DATA_DIR: dataDir, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  let output = ''
  let wake: () => void = () => undefined
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk
      wake()
    })
  child.once('exit', () => wake())
  const find = async (pattern: RegExp) => {
    for (;;) {
      const found = pattern.exec(output)?.[1]
      if (found) return found
      if (child.exitCode !== null) throw new Error(`the console ended with ${child.exitCode}:\n${output}`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const url = await find(/console on (https?:\/\/\S+)/i)
  const embedded = !environment.DEVDECK_SERVICE_URL
  const signInLink = embedded ? await find(/(https?:\/\/\S+\/sign-in\/\S+)/) : ''
  const serviceUrl = environment.DEVDECK_SERVICE_URL ?? (await find(/service on (http:\/\/[\d.:]+)/i))
  const apiKey = embedded ? readFileSync(join(dataDir, 'service/api-key'), 'utf8').trim() : ''
  return {
    url,
    signInLink,
    serviceUrl,
    apiKey,
    dataDir,
    pid: child.pid ?? 0,
    service: createClient({ baseUrl: serviceUrl, headers: { authorization: `Bearer ${apiKey}` } }),
    output: () => output,
    ended,
    stop: async () => {
      const code = await end(child)
      const answer = await fetch(url).catch(() => undefined)
      if (answer) throw new Error(`the console still answers ${answer.status} after npm start was ended`)
      rmSync(dataDir, { recursive: true, force: true })
      return code
    },
  }
}

/** The local service alone, started with `npm run service`. */
export const startServiceAlone = async ({
  port = 0,
  dataDir = mkdtempSync(join(tmpdir(), 'devdeck-service-')),
} = {}) => {
  const child = spawn(
    process.execPath,
    ['lib/service/main.ts', '--port', String(port), '--host', '127.0.0.1', '--data-dir', dataDir],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const url = /http:\/\/[\d.:]+/.exec(String(line))?.[0] ?? ''
  const apiKey = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
  return { url, port: Number(new URL(url).port), dataDir, apiKey, pid: child.pid ?? 0, stop: () => end(child) }
}

const end = async (child: ChildProcess) => {
  // Waits for close, because output may follow the exit.
  const closed = once(child, 'close')
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  child.kill('SIGTERM')
  await closed
  return child.exitCode
}

export const signIn = async (page: Page, { url, apiKey }: Pick<Product, 'url' | 'apiKey'>) => {
  const answer = await page.request.post(`${url}/api/session`, { data: { api_key: apiKey }, headers: { origin: url } })
  if (!answer.ok()) throw new Error(`the sign-in was answered ${answer.status()}: ${await answer.text()}`)
  // As if the prompt for a name had been skipped.
  await page.context().addCookies([{ name: nameCookie, value: '', url }])
}

export const signInByForm = async (page: Page, { url, apiKey }: Pick<Product, 'url' | 'apiKey'>) => {
  await page.goto(`${url}/sign-in`)
  await page.getByLabel('API key').fill(apiKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${url}/`)
}

/** Resolves once the page is hydrated and live. */
export const isLive = (page: Page): Promise<void> =>
  expect(page.getByRole('banner').getByText('Live', { exact: true })).toBeVisible()

/** Opens the command palette by keyboard. It loads on first use, so typing must wait for its field. */
export const openPalette = async (page: Page): Promise<void> => {
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Command palette' })).toBeFocused()
}

/** Opens a page and waits for hydration. */
export const open = async (page: Page, url: string): Promise<void> => {
  await page.goto(url)
  await isLive(page)
}

/**
 * One product and signed-in browser per worker, shared by its tests. Tests that count an account's contents use
 * their own product: `test.use({ journeys: 'axons' })`.
 */
export const test = base.extend<{ signedIn: Page }, { journeys: string; product: Product }>({
  // Files with different values of this option get separate workers.
  journeys: ['', { scope: 'worker', option: true }],
  product: [
    async ({ journeys: _ }, use) => {
      const product = await startProduct()
      await use(product)
      await product.stop()
    },
    { scope: 'worker', timeout: 480_000 },
  ],
  signedIn: async ({ page, product }, use) => {
    await signIn(page, product)
    await use(page)
  },
})

export { expect } from '@playwright/test'
