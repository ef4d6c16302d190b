import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type Page } from '@playwright/test'
import type { startHosted } from './hosted.ts'

export type Hosted = Awaited<ReturnType<typeof startHosted>>

const wrongWords = /\b(?:undefined|null|NaN|Invalid Date|0 of 0)\b|\[object \w+\]/

/** A recording is made by typing in a terminal. */
const unwalked = ['/recordings/[id]']

/** Every page of the app, with the ids of records that exist. */
export const routesOf = async ({ url, key, mainDevboxId }: Hosted, alert: string) => {
  const first = async (path: string, name: string, wanted: (row: Record<string, unknown>) => boolean = () => true) => {
    const response = await fetch(`${url}/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
    const { [name]: rows = [] } = (await response.json()) as Record<string, { id: string }[]>
    return rows.find(wanted)?.id
  }
  const job = await first('benchmark_jobs', 'jobs', ({ name }) => name === 'after')
  const { benchmark_outcomes } = (await (
    await fetch(`${url}/v1/benchmark_jobs/${encodeURIComponent(job ?? '')}`, {
      headers: { authorization: `Bearer ${key}` },
    })
  ).json()) as { benchmark_outcomes: { benchmark_run_id: string }[] }
  const ids: Record<string, string | undefined> = {
    '/devboxes': mainDevboxId,
    '/axons': await first('axons', 'axons', ({ name }) => name === 'orders 10'),
    '/blueprints': await first('blueprints', 'blueprints'),
    '/agents': await first('agents', 'agents'),
    '/objects': await first('objects', 'objects'),
    '/benchmark-jobs': job,
    '/benchmark-runs': benchmark_outcomes[0]?.benchmark_run_id,
    '/benchmarks': await first('benchmarks', 'benchmarks'),
    '/benchmarks/scenarios': await first('scenarios', 'scenarios'),
    '/evictions': alert,
    '/docs': 'agents',
    '/settings/secrets': 'OPENAI_KEY',
    '/settings/network-policies': await first('network-policies', 'network_policies'),
    '/settings/gateways': await first('gateway-configs', 'gateway_configs'),
    '/settings/mcp-servers': await first('mcp-configs', 'mcp_configs'),
  }
  const app = join(import.meta.dirname, '../../app/(console)')
  return globSync('**/page.tsx', { cwd: app })
    .map((file) => `/${file.replace(/\/?page\.tsx$/, '')}`)
    .filter((path) => !path.includes('[...') && !unwalked.includes(path))
    .map((path) =>
      path.replace(/^(.*?)\/\[\w+\]/, (_, collection: string) => {
        const id = ids[collection]
        if (id === undefined) throw new Error(`No record for ${path}: add one to the hosted service, or its id here`)
        return `${collection}/${encodeURIComponent(id)}`
      }),
    )
    .sort()
}

/** Collects what the browser reports as an error. */
export const watchErrors = (page: Page, isExpected: (text: string) => boolean = () => false) => {
  const errors: string[] = []
  const add = (text: string) => isExpected(text) || errors.push(`${new URL(page.url()).pathname}: ${text}`)
  page.on('console', (message) => message.type() === 'error' && add(`${message.text()} ${message.location().url}`))
  page.on('pageerror', (error) => add(String(error)))
  return errors
}

/** Wrong words and blank regions of what is shown now. */
export const problemsOf = async (page: Page, where: string): Promise<string[]> => {
  const texts = await page.locator('main, [role=dialog], [role=menu]').allInnerTexts()
  return texts.flatMap((text) => {
    const found = wrongWords.exec(text)
    if (found) return [`${where}: “${text.slice(Math.max(0, found.index - 40), found.index + 40)}”`]
    return text.trim().length < 10 ? [`${where} is blank`] : []
  })
}

export const isSettled = async (page: Page) => {
  const main = page.getByRole('main')
  await expect(main.getByRole('heading').first()).toBeVisible()
  await expect(main.locator('[aria-busy=true]')).toHaveCount(0)
}
