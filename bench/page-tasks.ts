import type { Page } from '@playwright/test'

export const report = (what: string, values: number[], goal: string) => {
  const sorted = values.toSorted((a, b) => a - b)
  const [median = 0, worst = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  console.log(`  ${what.padEnd(52)} ${median.toFixed(0).padStart(5)} ${worst.toFixed(0).padStart(5)}   ${goal}`)
}

const longMs = 100

export const reportLong = (what: string, tasks: number[]) => {
  const long = tasks.filter((ms) => ms > longMs)
  report(`${what}: tasks over ${longMs} ms`, long, `none (${long.length})`)
}

/** Counts processor time: a task that waits for a processor says nothing about the page. */
export const reportTasks = (what: string, tasks: readonly { ms: number; cpuMs: number }[]) => {
  reportLong(
    `${what}, in processor time`,
    tasks.map(({ cpuMs }) => cpuMs),
  )
  reportParts(
    `  ${tasks.length} tasks: 50, 95, 99 % and worst`,
    tasks.map(({ cpuMs }) => cpuMs),
  )
  reportParts(
    '  wall time',
    tasks.map(({ ms }) => ms),
  )
}

export const reportParts = (what: string, values: number[]) => {
  const sorted = values.toSorted((a, b) => a - b)
  const parts = [0.5, 0.95, 0.99, 1].map((part) => sorted[Math.ceil(sorted.length * part) - 1] ?? 0)
  console.log(`  ${what.padEnd(52)} ${parts.map((part) => part.toFixed(0).padStart(5)).join(' ')}`)
}

/** Shorter tasks draw no frame. */
const frameMs = 2

/** Tasks of the page's main thread that were long enough to draw a frame. */
export const tracedTasks = async (page: Page, act: () => Promise<unknown>) => {
  const session = await page.context().browser()?.newBrowserCDPSession()
  if (!session) throw new Error('The page has no browser')
  const tasks: { thread: string; ms: number; cpuMs: number }[] = []
  const mainThreads = new Set<string>()
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const { name, pid, tid, dur = 0, tdur = 0, args } of value as unknown as TraceEvent[]) {
      if (name === 'thread_name' && args?.name === 'CrRendererMain') mainThreads.add(`${pid} ${tid}`)
      if (name === 'ThreadControllerImpl::RunTask' && dur >= frameMs * 1000)
        tasks.push({ thread: `${pid} ${tid}`, ms: dur / 1000, cpuMs: tdur / 1000 })
    }
  })
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'], excludedCategories: ['*'] },
  })
  await act()
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.end')
  await complete
  await session.detach()
  // The browser keeps a spare page with fewer tasks.
  const threads = Map.groupBy(
    tasks.filter(({ thread }) => mainThreads.has(thread)),
    ({ thread }) => thread,
  )
  return [...threads.values()].toSorted((a, b) => b.length - a.length)[0] ?? []
}

/** Times in microseconds. */
interface TraceEvent {
  name: string
  pid: number
  tid: number
  dur?: number
  tdur?: number
  args?: { name?: string }
}
