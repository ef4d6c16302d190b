import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, expect, type Page } from '@playwright/test'
import { type Client, createClient } from '#lib/client/client.ts'

const root = join(import.meta.dirname, '..')

/** A console with its own local service, started as `npm start` does, in a folder of its own. */
export interface Product {
  url: string
  signInLink: string
  serviceUrl: string
  apiKey: string
  /** Calls the service itself, as a script beside the console would. */
  service: Client
  /** Of `npm start`, whose children the console and the service are. */
  pid: number
  /** Everything the process printed. */
  output(): string
  /** Resolves to what it exited with: null after a signal that it did not handle. */
  stop(): Promise<number | null>
}

/** `openFiles`: the most that each of its processes may have open. */
export const startProduct = async (
  environment: Record<string, string> = {},
  { openFiles }: { openFiles?: number } = {},
): Promise<Product> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-e2e-'))
  const limited = openFiles === undefined ? '' : `ulimit -n ${openFiles}; `
  const child = spawn('/bin/bash', ['-c', `${limited}exec npm start`], {
    cwd: root,
    env: { ...process.env, PORT: '0', DEVDECK_DATA_DIR: dataDir, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
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
  const url = await find(/console on (http:\/\/\S+)/i)
  const embedded = !environment.DEVDECK_SERVICE_URL
  const signInLink = embedded ? await find(/(http:\/\/\S+\/sign-in\/\S+)/) : ''
  const serviceUrl = environment.DEVDECK_SERVICE_URL ?? (await find(/service on (http:\/\/[\d.:]+)/i))
  const apiKey = embedded ? readFileSync(join(dataDir, 'service/api-key'), 'utf8').trim() : ''
  return {
    url,
    signInLink,
    serviceUrl,
    apiKey,
    pid: child.pid ?? 0,
    service: createClient({ baseUrl: serviceUrl, headers: { authorization: `Bearer ${apiKey}` } }),
    output: () => output,
    stop: async () => {
      const code = await end(child)
      const answer = await fetch(url).catch(() => undefined)
      if (answer) throw new Error(`the console still answers ${answer.status} after npm start was ended`)
      rmSync(dataDir, { recursive: true, force: true })
      return code
    },
  }
}

/** The local service without a console, as `npm run service` starts it. */
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
  // Not its exit: what it printed last may come after that.
  const closed = once(child, 'close')
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  child.kill('SIGTERM')
  await closed
  return child.exitCode
}

/** Gives the page's browser a session of its own, as the form of the sign-in page does. */
export const signIn = async (page: Page, { url, apiKey }: Pick<Product, 'url' | 'apiKey'>) => {
  const answer = await page.request.post(`${url}/api/session`, { data: { api_key: apiKey }, headers: { origin: url } })
  if (!answer.ok()) throw new Error(`the sign-in was answered ${answer.status()}: ${await answer.text()}`)
}

export const signInByForm = async (page: Page, { url, apiKey }: Pick<Product, 'url' | 'apiKey'>) => {
  await page.goto(`${url}/sign-in`)
  await page.getByLabel('API key').fill(apiKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${url}/`)
}

/** The page follows what is live: it takes keys. */
export const isLive = (page: Page): Promise<void> =>
  expect(page.getByRole('banner').getByText('Live', { exact: true })).toBeVisible()

/** Opens a page of the console and waits until it takes clicks: before its scripts run, a button does nothing. */
export const open = async (page: Page, url: string): Promise<void> => {
  await page.goto(url)
  await isLive(page)
}

/**
 * One product a worker, with what earlier journeys left in it; a browser that is signed in for each. Journeys that count
 * what an account has name a product of their own: `test.use({ journeys: 'axons' })`.
 */
export const test = base.extend<{ signedIn: Page }, { journeys: string; product: Product }>({
  // Files that differ in a worker's option get workers of their own, and so products that know nothing of one another.
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
