import type { Page } from '@playwright/test'
import { newId } from '#lib/service/kit/ids.ts'
import { createBenchmarkJobStore } from '#lib/service/store/benchmark-jobs.ts'
import { createBenchmarkRunStore } from '#lib/service/store/benchmark-runs.ts'
import type { Database } from '#lib/service/store/database.ts'
import { createScenarioRunStore } from '#lib/service/store/scenario-runs.ts'
import { fill, report, reportTasks, scrollThrough, timeChanges, withBrowser } from './browser.ts'

const agents = 8
const scenarios = 1_250

/** The page of a large job: time to paint, scrolling, sorting and filtering. */
export const benchJobPage = () =>
  withBrowser(async (open) => {
    const { page, product } = await open('[role=grid]')
    const id = await fill(product, insertJob)
    console.log(`a job of ${agents} agents x ${scenarios} scenarios`)
    await benchPaint(page, `${product.url}/benchmark-jobs/${id}`)
    await page.getByRole('grid').scrollIntoViewIfNeeded()
    for (const [what, step] of [
      ['the grid by screens', 600],
      ['by many screens', 9_000],
    ] as const)
      await reportTasks(page, what, async () => {
        for (const way of [step, -step])
          await page.evaluate(scrollThrough, { step: way, frames: 10_000, selector: '[role=grid]' })
      })
    await benchChanges(page)
  })

export const insertJob = (database: Database, account: string, name = 'large'): string => {
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
    name,
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
  return id
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
      const grid = window.observed.changes[0]?.paintedAt ?? Number.NaN
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
  await reportTasks(page, what, async () => {
    report(`${what}, to painted`, await timeChanges(page, acts, perform), '<= 150')
  })
}
