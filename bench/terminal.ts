import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext } from '@playwright/test'
import { type Product, startProduct } from '#e2e/product.ts'
import { openTarget, type PageTarget } from './terminal-browser.ts'
import { attach, echo, flood, hop, interrupt, stoppedReader } from './terminal-figures.ts'
import { crowd, reconnects } from './terminal-many.ts'
import { consoleTarget, newName, ptyTarget, serviceTarget, startTtyd, type Target } from './terminal-targets.ts'

const percentile = (values: number[], part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}

/** Averages the two middle values. */
const median = (values: number[]) => {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [Math.floor((sorted.length - 1) / 2), Math.ceil((sorted.length - 1) / 2)]
  return ((sorted[low] ?? Number.NaN) + (sorted[high] ?? Number.NaN)) / 2
}

/** Compares measurements of the same turn, when the machine was equally busy. */
const ratios = (ours: number[], theirs: number[]) => ours.map((each, turn) => each / (theirs[turn] ?? Number.NaN))

const full = {
  runs: 5,
  keys: 2000,
  gapMs: 2,
  floodMb: 60,
  yesSeconds: 3,
  stoppedSeconds: 60,
  attaches: 20,
  pages: 5,
  pageMb: 50,
  reconnects: 100,
  sessions: 50,
  crowds: 3,
  crowdSeconds: 5,
}
const quick: typeof full = {
  ...full,
  runs: 3,
  keys: 1000,
  floodMb: 20,
  yesSeconds: 2,
  stoppedSeconds: 10,
  attaches: 5,
  pages: 2,
}

const firstKeys = 1000
/** V8 shrinks the heap only after a while. */
const settleSeconds = 30
/** The first visits fill the browser's caches. */
const cacheRounds = 2

/**
 * The terminal of `npm start`, alternating with a pseudoterminal in this process, a byte over a WebSocket, and ttyd if
 * TTYD_PATH is set. `--quick` measures less.
 */
export const benchTerminal = async () => {
  const amounts = process.argv.includes('--quick') ? quick : full
  const product = await startProduct()
  const ttyd = await startTtyd()
  const figures = new Figures()
  try {
    const cookie = await signedIn(product)
    const devboxIds: string[] = []
    for (let count = 0; count < 4; count++)
      devboxIds.push((await product.service.devboxes.createAndAwaitRunning({ body: {} })).id)
    const [devboxId = ''] = devboxIds
    const ways = devboxIds.map((each) => ({ product, devboxId: each, cookie }))
    const through = consoleTarget(product, devboxId, cookie)
    const targets = [ptyTarget, ...(ttyd ? [ttyd.target] : []), serviceTarget(product, devboxId), through]
    console.log(
      `Terminal, medians of ${amounts.runs} alternating runs [min to max]${ttyd ? '' : '; without ttyd (TTYD_PATH is not set)'}`,
    )
    await benchEcho(figures, targets, amounts)
    await benchFlood(figures, targets, { ...processesOf(product), ...(ttyd && { ttyd: ttyd.pid }) }, amounts)
    await benchInterrupt(figures, targets, amounts)
    await benchAttach(figures, targets, amounts)
    await benchStopped(figures, product, through, amounts)
    await benchReconnects(figures, ways[0] as (typeof ways)[0], amounts.reconnects)
    await benchCrowd(figures, ways, amounts)
    await benchPages(figures, product, devboxIds, ttyd?.url, amounts)
    figures.sum()
  } finally {
    await ttyd?.stop()
    await product.stop()
  }
}

export const benchTerminalOpen = async () => {
  const product = await startProduct()
  const ttyd = await startTtyd()
  const figures = new Figures()
  try {
    const { id } = await product.service.devboxes.createAndAwaitRunning({ body: {} })
    await benchPages(figures, product, [id], ttyd?.url, full, ['open'])
    figures.sum()
  } finally {
    await ttyd?.stop()
    await product.stop()
  }
}

type Amounts = typeof full

/** Prints figures with their goals, and at the end those that miss. */
class Figures {
  readonly #missed: string[] = []

  report(what: string, values: number[], unit: string, beside = ''): void {
    console.log(`  ${what.padEnd(46)} ${spread(values)} ${unit}${beside && `   ${beside}`}`)
  }

  goal(what: string, value: number, goal: number, { atLeast = false, unit = '' } = {}): void {
    const isMet = atLeast ? value >= goal : value <= goal
    const line = `${what}: ${short(value)}${unit}, goal ${atLeast ? 'at least' : 'at most'} ${Number.isInteger(goal * 100) ? goal : short(goal)}${unit}`
    if (!isMet) this.#missed.push(line)
    console.log(`    ${isMet ? 'met   ' : 'MISSED'} ${line}`)
  }

  sum(): void {
    console.log(`  load ${loadavg().map(short).join(' ')} at the end`)
    console.log(this.#missed.length === 0 ? '  all goals met' : `  ${this.#missed.length} goals missed:`)
    for (const line of this.#missed) console.log(`    ${line}`)
  }
}

const short = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2))
const spread = (values: number[]) =>
  values.length === 1
    ? short(values[0] as number)
    : `${short(median(values))} [${short(Math.min(...values))} to ${short(Math.max(...values))}]`

/** Runs all targets alternately, so that a slow machine affects all alike. */
const inTurns = async <T>(targets: Target[], runs: number, measure: (target: Target) => Promise<T>) => {
  const results = new Map<string, T[]>(targets.map(({ name }) => [name, []]))
  for (let run = 0; run < runs; run++)
    for (const target of targets) {
      results.get(target.name)?.push(await measure(target))
      // Lets the previous target settle.
      await delay(200)
    }
  return (name: string) => results.get(name) ?? []
}

const benchEcho = async (figures: Figures, targets: Target[], { runs, keys, gapMs }: Amounts) => {
  const hops: number[][] = []
  // Node compiles on other threads during the first thousand keys, which would dominate a short first turn.
  for (const target of targets) await echo(target, firstKeys, gapMs)
  const of = await inTurns(targets, runs, async (target) => {
    if (target === ptyTarget) hops.push(await hop(keys, gapMs))
    return echo(target, keys, gapMs)
  })
  const at = (times: number[][], part: number) => times.map((each) => percentile(each, part))
  figures.report('echo, one hop (WebSocket) p50', at(hops, 0.5), 'ms')
  for (const { name } of targets)
    figures.report(`echo, ${name} p50`, at(of(name), 0.5), 'ms', `p99 ${spread(at(of(name), 0.99))} ms`)
  const p50 = at(of('console'), 0.5)
  const hop50 = at(hops, 0.5)
  const floor = at(of('pty'), 0.5).map((each, turn) => each + 2 * (hop50[turn] ?? Number.NaN))
  figures.goal('echo p50, console / floor (pty and two hops)', median(ratios(p50, floor)), 1.5, {
    unit: 'x',
  })
  figures.goal('echo p99 / p50', median(ratios(at(of('console'), 0.99), p50)), 5, { unit: 'x' })
  if (of('ttyd').length > 0)
    figures.goal('echo p50, console / ttyd', median(ratios(p50, at(of('ttyd'), 0.5))), 2.2, { unit: 'x' })
}

const benchFlood = async (
  figures: Figures,
  targets: Target[],
  pids: Record<string, number>,
  { runs, floodMb }: Amounts,
) => {
  const spent = new Map<string, number[]>()
  const of = await inTurns(targets, runs, async (target) => {
    const before = Object.entries(pids).map(([name, pid]) => ({ name, pid, ms: processorMs(pid) }))
    const rate = await flood(target, floodMb)
    for (const { name, pid, ms } of before) {
      if (name !== target.name && target.name !== 'console') continue
      const what = `${name} for ${target.name}`
      spent.set(what, [...(spent.get(what) ?? []), (processorMs(pid) - ms) / floodMb])
    }
    return rate
  })
  for (const { name } of targets) figures.report(`flood of ${floodMb} MB, ${name}`, of(name), 'MB/s')
  // Meaningful on a shared machine, too.
  for (const name of ['console for console', 'service for console', 'ttyd for ttyd'])
    if (spent.has(name)) figures.report(`CPU per MB, ${name}`, spent.get(name) ?? [], 'ms')
  const ours = of('console')
  figures.goal('flood to a fast reader, console / pty', median(ratios(ours, of('pty'))), 0.7, {
    atLeast: true,
    unit: 'x',
  })
  if (of('ttyd').length > 0)
    figures.goal('flood to a fast reader, console / ttyd', median(ratios(ours, of('ttyd'))), 0.85, {
      atLeast: true,
      unit: 'x',
    })
}

const benchInterrupt = async (figures: Figures, targets: Target[], { runs, yesSeconds }: Amounts) => {
  // The service alone has no page that acknowledges.
  const asked = targets.filter(({ name }) => name !== 'service')
  const of = await inTurns(asked, runs, (target) => interrupt(target, { rate: 10, seconds: yesSeconds }))
  for (const { name } of asked)
    figures.report(
      `^C in yes, 10 MB/s reader, ${name}`,
      of(name).map(({ ms }) => ms),
      'ms',
      `held ${spread(of(name).map(({ heldMb }) => heldMb))} MB`,
    )
  const ours = median(of('console').map(({ ms }) => ms))
  figures.goal('^C to the prompt at a 10 MB/s reader', ours, 250, { unit: ' ms' })
  figures.goal('backlog of the reader', Math.max(...of('console').map(({ heldMb }) => heldMb)), 1.2, {
    unit: ' MB',
  })
  const slow = await inTurns([asked.at(-1) as Target], Math.min(runs, 2), (target) =>
    interrupt(target, { rate: 2, seconds: yesSeconds }),
  )
  figures.goal('^C to the prompt at a 2 MB/s reader, worst', Math.max(...slow('console').map(({ ms }) => ms)), 500, {
    unit: ' ms',
  })
}

const benchAttach = async (figures: Figures, targets: Target[], { attaches }: Amounts) => {
  const of = await inTurns(targets, attaches, attach)
  for (const { name } of targets)
    figures.report(
      `attach to prompt, new shell, ${name}`,
      of(name).map(({ newMs }) => newMs),
      'ms',
    )
  const again = of('console').map(({ againMs }) => againMs)
  figures.report('reattach to prompt, console', again, 'ms')
  figures.goal('attach to prompt, new shell', median(of('console').map(({ newMs }) => newMs)), 25, { unit: ' ms' })
  figures.goal('reattach to prompt', median(again), 25, { unit: ' ms' })
}

const benchStopped = async (figures: Figures, product: Product, target: Target, { stoppedSeconds }: Amounts) => {
  const names = ['console', 'service'] as const
  const growth = { console: [] as number[], service: [] as number[] }
  const ms = await stoppedReader(target, settleSeconds + stoppedSeconds, async (forMs) => {
    const processes = processesOf(product)
    const resident = () => names.map((name) => residentMb(processes[name]))
    const first = resident()
    const end = performance.now() + forMs
    await delay(settleSeconds * 1000)
    const before = resident()
    names.forEach((name, at) => {
      figures.report(`memory growth of the ${name}`, [(before[at] ?? 0) - (first[at] ?? 0)], 'MB')
    })
    for (; performance.now() < end; await delay(250))
      for (const [at, now] of resident().entries()) growth[names[at] ?? 'console'].push(now - (before[at] ?? 0))
  })
  for (const name of names)
    figures.goal(
      `memory of the ${name} grown by, ${stoppedSeconds} s of yes to a stopped reader`,
      Math.max(0, ...growth[name]),
      10,
      { unit: ' MB' },
    )
  figures.report('reconnect after that, ^C to the prompt', [ms], 'ms')
}

const benchReconnects = async (figures: Figures, way: Parameters<typeof reconnects>[0], times: number) => {
  const { isSame, snapshots, reached } = await reconnects(way, times)
  figures.report(
    `${times} reconnects while a shell counts`,
    [reached * 100],
    '% of the output was received before the last',
  )
  figures.goal(`bytes lost or repeated in ${times} reconnects (0 = none)`, isSame ? 0 : 1, 0)
  figures.goal('of them restored from a snapshot', snapshots, 0)
}

const benchCrowd = async (
  figures: Figures,
  ways: Parameters<typeof crowd>[0],
  { sessions, crowds, crowdSeconds }: Amounts,
) => {
  const turns: Awaited<ReturnType<typeof crowd>>[] = []
  // A single stall of the machine is the 99th percentile of one turn, not of most.
  for (let turn = 0; turn < crowds; turn++) {
    turns.push(await crowd(ways, { sessions, seconds: crowdSeconds }))
    await delay(1000)
  }
  const at = (part: number) => ({
    typed: turns.map(({ typed }) => percentile(typed, part)),
    watched: turns.map(({ watched }) => percentile(watched, part)),
  })
  const keysPerSecond = median(turns.map(({ typed }) => typed.length / crowdSeconds))
  const [p50, p99] = [at(0.5), at(0.99)]
  figures.report(
    `${sessions} shells x 2 pages, ${Math.round(keysPerSecond)} keys/s, echo p50`,
    p50.typed,
    'ms',
    `p99 ${spread(p99.typed)} ms; to who watches ${spread(p50.watched)} ms, p99 ${spread(p99.watched)} ms`,
  )
  figures.goal(`echo p99 with ${sessions} shells x 2 pages`, median(p99.typed), 50, { unit: ' ms' })
  figures.goal('to the watching page', median(p99.watched), 50, { unit: ' ms' })
}

const benchPages = async (
  figures: Figures,
  product: Product,
  devboxIds: string[],
  ttydUrl: string | undefined,
  amounts: Amounts,
  parts: readonly ('open' | 'flood' | 'interrupt')[] = ['open', 'flood', 'interrupt'],
) => {
  const { pages: runs, pageMb, yesSeconds } = amounts
  const pages: PageTarget[] = [
    // The number of shells per devbox is limited.
    {
      name: 'console',
      address: inTurn(devboxIds, (id) => `${product.url}/devboxes/${id}/terminal?t=${newName()}`),
      prepare: (context) => prepare(context, product),
    },
    ...(ttydUrl ? [{ name: 'ttyd', address: () => `${ttydUrl}/?rendererType=dom` }] : []),
  ]
  const targets = await Promise.all(pages.map(openTarget))
  console.log(`  in Chromium ${targets[0]?.version}, DOM renderer`)
  try {
    const measure = async (run: (target: (typeof targets)[0]) => Promise<number>) => {
      const results = new Map<string, number[]>(targets.map(({ target }) => [target.name, []]))
      for (let round = 0; round < runs + cacheRounds; round++)
        for (const each of targets) {
          const took = await run(each)
          if (round >= cacheRounds) results.get(each.target.name)?.push(took)
        }
      return results
    }
    const report = (
      what: string,
      unit: string,
      results: Map<string, number[]>,
      goals: { most?: number; toTtyd: number },
    ) => {
      for (const [name, values] of results) figures.report(`${what}, ${name}`, values, unit)
      const ours = median(results.get('console') ?? [])
      if (goals.most !== undefined) figures.goal(what, ours, goals.most, { unit: ` ${unit}` })
      const theirs = results.get('ttyd')
      if (theirs)
        figures.goal(`${what}, console / ttyd`, median(ratios(results.get('console') ?? [], theirs)), goals.toTtyd, {
          unit: 'x',
        })
    }
    if (parts.includes('open')) {
      report('page open to prompt', 'ms', await measure((each) => each.open()), { toTtyd: 2 })
      for (const { target, busyMs } of targets)
        figures.report(`main thread CPU, ${target.name}`, busyMs.slice(cacheRounds), 'ms')
    }
    if (parts.includes('flood'))
      report(`${pageMb} MB to the last line`, 'ms', await measure((each) => each.flood(pageMb)), { toTtyd: 0.7 })
    if (parts.includes('interrupt'))
      report('^C in yes', 'ms', await measure((each) => each.interrupt(yesSeconds)), { most: 500, toTtyd: 0.25 })
  } finally {
    for (const each of targets) await each.close()
  }
}

const inTurn = (list: string[], text: (each: string) => string) => {
  let next = 0
  return () => text(list[next++ % list.length] ?? '')
}

const signedIn = async ({ url, apiKey }: Product): Promise<string> => {
  const answer = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ api_key: apiKey }),
  })
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0]
  if (!cookie) throw new Error(`Signing in returned ${answer.status}`)
  return cookie
}

const prepare = async (context: BrowserContext, product: Product) => {
  const [name = '', value = ''] = (await signedIn(product)).split(/=(.*)/s)
  await context.addCookies([{ name, value, url: product.url }])
  await context.addInitScript(() => localStorage.setItem('devdeck:terminal', '{"renderer":"dom"}'))
}

const processesOf = ({ pid }: Product) => {
  const family = new Set([pid])
  const entries = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
  const found = { console: 0, service: 0 }
  for (let generation = 0; generation < 5; generation++)
    for (const each of entries) {
      try {
        const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${each}/stat`, 'utf8'))?.[1])
        if (!family.has(parent)) continue
        family.add(each)
        const command = readFileSync(`/proc/${each}/cmdline`, 'utf8')
        if (command.includes('lib/service/main.ts')) found.service ||= each
        else if (command.includes('server.ts')) found.console = each
      } catch {
        // The process has ended.
      }
    }
  if (!found.console || !found.service) throw new Error('Console or service process not found')
  return found
}

const processorMs = (pid: number) => {
  // User and system time in hundredths of a second.
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13) ?? []
  return (Number(user) + Number(system)) * 10
}

const residentMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
