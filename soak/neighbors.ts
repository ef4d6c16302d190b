import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Product, startProduct } from '#e2e/product.ts'
import { createClient } from '#lib/client/client.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import type { Load } from './noisy-neighbor.ts'

const loads: Load[] = ['half requests', 'streams', 'printing terminals', 'a full disk', 'a fork bomb']
const measureMs = 12_000
const settleMs = 3_000
/** Maximum slowdown of a call by a noisy neighbor. */
const goal = 3

const keys = { quiet: 'ak_quiet000000000000000000', loud: 'ak_loud0000000000000000000' }

/** Returns a problem for each call that takes over three times as long while another account uses all it can. */
export const neighbours = async (only: readonly string[] = []): Promise<string[]> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-soak-'))
  const given = Object.entries(keys).map((entry) => entry.join(':'))
  const args = ['--port', '0', '--data-dir', dataDir, '--stop-with-parent']
  const { child, ready, ended } = runCommand(args, { NODE_ENV: 'production', DEVDECK_API_KEYS: given.join() })
  const problems: string[] = []
  try {
    const serviceUrl = await ready
    const product = await startProduct({ DEVDECK_SERVICE_URL: serviceUrl })
    try {
      const calls = await callsOf(product)
      await measure(calls)
      console.log(
        `calls of one account beside another's load, p50 / p99 in ms; goal: p99 at most ${goal}x the quiet one`,
      )
      for (const load of loads) {
        if (only.length > 0 && !only.includes(load)) continue
        const quiet = await measure(calls)
        const { said, stop } = await startLoad(load, product)
        const beside = await measure(calls)
        await stop()
        console.log(`  ${load}: ${said}`)
        for (const [name, times] of Object.entries(beside)) {
          const [before, during] = [quiet[name] ?? [], times].map((each) => [
            percentile(each, 0.5),
            percentile(each, 0.99),
          ])
          const ratio = (during?.[1] ?? Number.NaN) / (before?.[1] ?? Number.NaN)
          const line = `${name.padEnd(18)} quiet ${inWords(before)}, beside it ${inWords(during)} of ${times.length}: ${ratio.toFixed(2)}x`
          console.log(`    ${line}`)
          if (!(ratio <= goal)) problems.push(`${load}: ${line}`)
        }
      }
    } finally {
      await product.stop()
    }
  } finally {
    child.kill('SIGTERM')
    await ended
    rmSync(dataDir, { recursive: true, force: true })
  }
  return problems
}

type Calls = Record<string, () => Promise<unknown>>

/** Calls of the quiet account: to the service directly and to a page. */
const callsOf = async (product: Product): Promise<Calls> => {
  const client = clientOf(product, 'quiet')
  const cookie = await signedIn(product, 'quiet')
  const params = { id: (await client.devboxes.createAndAwaitRunning({ body: {} })).id }
  return {
    execute_sync: () => client.executions.executeSync({ params, body: { command: 'true' } }),
    'list of devboxes': () => client.devboxes.list({ query: {} }),
    'page of devboxes': async () => {
      const answer = await fetch(`${product.url}/devboxes`, { headers: { cookie } })
      if (answer.status !== 200) throw new Error(`The page was answered ${answer.status}`)
      await answer.text()
    },
  }
}

/** Duration of each call in ms; runs them one by one. */
const measure = async (calls: Calls) => {
  const times: Record<string, number[]> = {}
  const end = performance.now() + measureMs
  while (performance.now() < end)
    for (const [name, call] of Object.entries(calls)) {
      const start = performance.now()
      await call()
      const taken = times[name] ?? []
      times[name] = taken
      taken.push(performance.now() - start)
    }
  return times
}

const startLoad = async (load: Load, product: Product) => {
  const client = clientOf(product, 'loud')
  const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
  const { url, serviceUrl } = product
  const target = {
    url,
    serviceUrl,
    key: keys.loud,
    account: 'loud',
    cookie: await signedIn(product, 'loud'),
    devboxId: id,
  }
  const child = fork(join(import.meta.dirname, 'loud-neighbour.ts'), [load, JSON.stringify(target)])
  // An attacker would use another machine, so its own CPU use must not slow the calls.
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW)
  const [said] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`The load "${load}" ended`))),
  ])
  await delay(settleMs)
  return {
    said: String(said),
    stop: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      await client.devboxes.shutdown({ params: { id } })
      await delay(settleMs)
    },
  }
}

const clientOf = ({ serviceUrl }: Product, account: keyof typeof keys) =>
  createClient({ baseUrl: serviceUrl, headers: { authorization: `Bearer ${keys[account]}` } })

const signedIn = async ({ url }: Product, account: keyof typeof keys): Promise<string> => {
  const answer = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ api_key: keys[account] }),
  })
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0]
  if (!cookie) throw new Error(`Signing in was answered ${answer.status}`)
  return cookie
}

const percentile = (values: number[], part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}

const inWords = ([p50, p99]: (number | undefined)[] = []) => `${p50?.toFixed(1)} / ${p99?.toFixed(1)}`
