import { join } from 'node:path'
import { chromium, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'
import { type Product, signIn, startProduct } from '#e2e/product.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { createBenchmarkJobStore } from '#lib/service/store/benchmark-jobs.ts'
import { createBenchmarkRunStore } from '#lib/service/store/benchmark-runs.ts'
import { databaseName } from '#lib/service/store/data-dir.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { createScenarioRunStore } from '#lib/service/store/scenario-runs.ts'
import { report, reportTasks, tracedTasks } from './page-tasks.ts'

const agents = 8
const scenarios = 1_250

/** The page of a large job in a browser: time to paint, scrolling, sorting and filtering. */
export const benchJobPage = async () => {
  const product = await startProduct()
  const browser = await chromium.launch(await findChromium())
  try {
    const id = await seed(product)
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.addInitScript(observe)
    await signIn(page, product)
    console.log(
      `a job of ${agents} agents x ${scenarios} scenarios in Chromium at 1440 x 900; ms, median and worst, with goals`,
    )
    await benchPaint(page, `${product.url}/benchmark-jobs/${id}`)
    await benchScroll(page)
    await benchChanges(page)
  } finally {
    await browser.close()
    await product.stop()
  }
}

/** Direct database writes: ten thousand trials would take an hour. */
const seed = async ({ service, output }: Product): Promise<string> => {
  const folder = /data in (\S+)\)/.exec(output())?.[1] ?? ''
  const database = openDatabase(join(folder, databaseName))
  database.exec('PRAGMA synchronous = OFF')
  const { id: account } = await service.accounts.me()
  const runs = createBenchmarkRunStore(database)
  const jobs = createBenchmarkJobStore(database, runs)
  const trials = createScenarioRunStore(database)
  const scenarioIds = Array.from({ length: scenarios }, () => newId('scn'))
  const configs = Array.from({ length: agents }, (_, at) => ({
    name: 'solver',
    type: 'job_agent',
    model_name: `model-${at + 1}`,
  }))
  const id = newId('bmj')
  const startMs = Date.now() - 3_600_000
  jobs.insert({
    id,
    account,
    name: 'large',
    create_time_ms: startMs,
    metadata: {},
    source: { type: 'scenarios', scenario_ids: scenarioIds },
    spec: { scenario_ids: scenarioIds, agent_configs: configs },
    warnings: [],
    plan: null,
  })
  trials.transaction(() => {
    for (const [at, agent] of configs.entries()) {
      const run = newId('bmr')
      const ofAll = { account, metadata: {}, profile: {}, start_time_ms: startMs }
      runs.insert({ ...ofAll, id: run, benchmark_id: null, name: 'large', job_id: id, agent_index: at, agent })
      for (const [number, scenario_id] of scenarioIds.entries()) {
        const trial = newId('scr')
        const scenario_name = `set-${number % 25}__task-${number}`
        trials.insert({
          ...ofAll,
          id: trial,
          scenario_id,
          scenario_name,
          benchmark_run_id: run,
          devbox_id: null,
          name: scenario_name,
          attempt: 0,
          retry: 0,
        })
        // Better agents solve more, and no two solve the same.
        const fate = (number * 7_919 + at * 104_729) % 1_000
        const failure = { exception_type: 'AgentError', exception_message: `exit code ${number % 7}` }
        const score = fate < 300 + at * 40 ? 1 : fate % 4 === 0 ? 0.5 : 0
        const timeMs = startMs + 1_000 + fate * 300
        if (fate > 950) trials.move(trial, { from: 'running', to: 'failed', timeMs, outcome: 'FAILED', failure })
        else
          trials.move(trial, {
            from: 'running',
            to: 'completed',
            timeMs,
            outcome: 'COMPLETED',
            result: { score, scoring_function_results: [] },
          })
      }
      runs.end(run, { state: 'completed', end_time_ms: startMs + 1_000_000, score: null })
    }
    jobs.move(id, 'completed', startMs + 1_000_000, null)
  })
  database.close()
  return id
}

interface GridObserved {
  actedAt: number
  shown: { words: string; paintedAt: number }[]
}
declare global {
  interface Window {
    gridObserved: GridObserved
  }
}

/** Runs in the page, before its own scripts. */
const observe = () => {
  const observed: GridObserved = { actedAt: 0, shown: [] }
  window.gridObserved = observed
  for (const kind of ['click', 'change', 'input'])
    addEventListener(
      kind,
      ({ timeStamp }) => {
        observed.actedAt = timeStamp
      },
      true,
    )
  let last = ''
  new MutationObserver(() => {
    const grid = document.querySelector('[role=grid]')
    if (!grid) return
    const words = [
      document.querySelector('#scenarios [role=status]')?.textContent,
      ...[...grid.querySelectorAll('tbody tr')].map((row) => row.getAttribute('data-key') ?? row.className),
    ].join(' ')
    if (words === last) return
    last = words
    // Two frames later, this one has been painted.
    requestAnimationFrame(() => requestAnimationFrame((paintedAt) => observed.shown.push({ words, paintedAt })))
  }).observe(document, { childList: true, subtree: true, characterData: true })
}

const benchPaint = async (page: Page, address: string) => {
  const [painted, judged]: [number[], number[]] = [[], []]
  for (let round = 0; round < 5; round++) {
    await page.goto(address)
    await page.getByText('solver · model-8 leads').or(page.getByText('leads solver')).first().waitFor()
    const times = await page.evaluate(async () => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      const [document] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
      const answers = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/report?'))
      const grid = window.gridObserved.shown[0]?.paintedAt ?? Number.NaN
      return {
        painted: grid - (document?.responseEnd ?? Number.NaN),
        judged: performance.now() - (answers[0] as PerformanceResourceTiming).responseEnd,
      }
    })
    painted.push(times.painted)
    judged.push(times.judged)
  }
  // The first round warms up.
  report('document received to grid painted', painted.slice(1), '<= 1000')
  report('report received to verdict painted', judged.slice(1), '<= 1000')
}

const benchScroll = async (page: Page) => {
  await page.getByRole('grid').scrollIntoViewIfNeeded()
  for (const [what, step] of [
    ['the grid by screens', 600],
    ['by many screens', 9_000],
  ] as const)
    reportTasks(what, await tracedTasks(page, () => page.evaluate(throughGrid, step)))
}

/** Runs in the page. */
const throughGrid = async (step: number) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const region = document.querySelector('[role=grid]')?.parentElement
  if (!region) throw new Error('The page has no grid')
  for (const way of [step, -step])
    for (;;) {
      const before = region.scrollTop
      region.scrollBy({ top: way, behavior: 'instant' })
      await frame()
      if (region.scrollTop === before) break
    }
}

const benchChanges = async (page: Page) => {
  const grid = page.getByRole('grid')
  const sort = ['model-3', 'model-3', 'model-8', 'Scenario', 'model-1', 'model-1']
  await benchChange(page, 'another order', sort, (label) =>
    grid.getByRole('button', { name: label, exact: true }).click(),
  )
  const state = page.getByRole('combobox', { name: 'State' })
  const states = ['FAILED', 'COMPLETED', 'FAILED', '']
  await benchChange(page, 'a filter of states', states, (value) => state.selectOption(value))
  const search = page.getByRole('searchbox', { name: 'Search scenarios' })
  const keys = ['7', '1', '2', 'Backspace', 'Backspace', 'Backspace']
  await benchChange(page, 'a key in the search', keys, (key) => search.press(key))
  const groups = page.getByRole('combobox', { name: 'Groups' })
  await benchChange(page, 'groups', ['prefix', '', 'prefix', ''], (value) => groups.selectOption(value))
}

const benchChange = async <Act>(
  page: Page,
  what: string,
  acts: readonly Act[],
  perform: (act: Act) => Promise<unknown>,
) => {
  let times: number[] = []
  const tasks = await tracedTasks(page, async () => {
    times = await timesOf(page, acts, perform)
  })
  report(`${what}, to painted`, times, '<= 150')
  reportTasks(what, tasks)
}

const timesOf = async <Act>(page: Page, acts: readonly Act[], perform: (act: Act) => Promise<unknown>) => {
  const times: number[] = []
  for (const act of acts) {
    await page.evaluate(() => {
      window.gridObserved.shown = []
    })
    await perform(act)
    await page.waitForFunction(() => window.gridObserved.shown.length > 0)
    times.push(
      await page.evaluate(() => {
        const { shown, actedAt } = window.gridObserved
        return (shown[0]?.paintedAt ?? Number.NaN) - actedAt
      }),
    )
  }
  return times
}
