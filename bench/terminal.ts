import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Product, startProduct } from '#e2e/product.ts'
import { openTerminalPages } from './terminal-browser.ts'
import { attach, crowd, echo, flood, hop, interrupt, reconnects, stoppedReader } from './terminal-figures.ts'
import { consoleTarget, ptyTarget, serviceTarget, type Target, type Way } from './terminal-targets.ts'

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

/** The terminal of `npm start`, alternating with a pseudoterminal in this process and the service alone. */
export const benchTerminal = () =>
  onDevboxes(4, async (product, ways) => {
    const amounts = process.argv.includes('--quick') ? quick : full
    const [way] = ways as [Way]
    const through = consoleTarget(way)
    const targets = [ptyTarget, serviceTarget(product, way.devboxId), through]
    console.log(`Terminal, medians of ${amounts.runs} alternating runs [min to max]`)
    await benchEcho(targets, amounts)
    await benchFlood(targets, processesOf(product), amounts)
    await benchInterrupt(targets, amounts)
    await benchAttach(targets, amounts)
    await benchStopped(product, through, amounts)
    await benchReconnects(way, amounts)
    await benchCrowd(ways, amounts)
    await benchPages(product, ways, amounts)
  })

export const benchTerminalOpen = () => onDevboxes(1, (product, ways) => benchPages(product, ways, full, true))

const onDevboxes = async (count: number, measure: (product: Product, ways: Way[]) => Promise<void>) => {
  const product = await startProduct()
  const missed = missedGoals.length
  try {
    const cookie = await signedIn(product)
    const ways: Way[] = []
    while (ways.length < count) {
      const { id } = await product.service.devboxes.createAndAwaitRunning({ body: {} })
      ways.push({ url: product.url, devboxId: id, cookie })
    }
    await measure(product, ways)
    console.log(`  load ${loadavg().map(short).join(' ')} at the end; goals missed: ${missedGoals.length - missed}`)
    for (const line of missedGoals.slice(missed)) console.log(`    ${line}`)
  } finally {
    await product.stop()
  }
}

type Amounts = typeof full

const missedGoals: string[] = []
const short = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2))
const spread = (values: number[]) =>
  values.length === 1
    ? short(values[0] as number)
    : `${short(median(values))} [${short(Math.min(...values))} to ${short(Math.max(...values))}]`

const report = (what: string, values: number[], unit: string, also = '') =>
  console.log(`  ${what.padEnd(46)} ${spread(values)} ${unit}${also && `   ${also}`}`)

const goal = (what: string, value: number, limit: number, unit = '', { atLeast = false } = {}) => {
  const isMet = atLeast ? value >= limit : value <= limit
  const line = `${what}: ${short(value)}${unit}, goal ${atLeast ? 'at least' : 'at most'} ${limit}${unit}`
  if (!isMet) missedGoals.push(line)
  console.log(`    ${isMet ? 'met   ' : 'MISSED'} ${line}`)
}

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

const benchEcho = async (targets: Target[], { runs, keys, gapMs }: Amounts) => {
  const hops: number[][] = []
  // Node compiles on other threads during the first thousand keys, which would dominate a short first turn.
  for (const target of targets) await echo(target, firstKeys, gapMs)
  const of = await inTurns(targets, runs, async (target) => {
    if (target === ptyTarget) hops.push(await hop(keys, gapMs))
    return echo(target, keys, gapMs)
  })
  const at = (times: number[][], part: number) => times.map((each) => percentile(each, part))
  report('echo, one hop (WebSocket) p50', at(hops, 0.5), 'ms')
  for (const { name } of targets)
    report(`echo, ${name} p50`, at(of(name), 0.5), 'ms', `p99 ${spread(at(of(name), 0.99))} ms`)
  const p50 = at(of('console'), 0.5)
  const hop50 = at(hops, 0.5)
  const floor = at(of('pty'), 0.5).map((each, turn) => each + 2 * (hop50[turn] ?? Number.NaN))
  goal('echo p50, console / floor (pty and two hops)', median(ratios(p50, floor)), 1.5, 'x')
  goal('echo p99 / p50', median(ratios(at(of('console'), 0.99), p50)), 5, 'x')
}

const benchFlood = async (targets: Target[], pids: Record<string, number>, { runs, floodMb }: Amounts) => {
  const spent: Record<string, number[]> = { console: [], service: [] }
  const of = await inTurns(targets, runs, async (target) => {
    const before = Object.entries(pids).map(([name, pid]) => ({ name, pid, ms: processorMs(pid) }))
    const rate = await flood(target, floodMb)
    if (target.name === 'console')
      for (const { name, pid, ms } of before) spent[name]?.push((processorMs(pid) - ms) / floodMb)
    return rate
  })
  for (const { name } of targets) report(`flood of ${floodMb} MB, ${name}`, of(name), 'MB/s')
  for (const [name, each] of Object.entries(spent)) report(`CPU of the ${name} per MB through the console`, each, 'ms')
  goal('flood to a fast reader, console / pty', median(ratios(of('console'), of('pty'))), 0.7, 'x', { atLeast: true })
}

const benchInterrupt = async (targets: Target[], { runs, yesSeconds }: Amounts) => {
  // The service alone has no page that acknowledges.
  const readers = targets.filter(({ name }) => name !== 'service')
  const of = await inTurns(readers, runs, (target) => interrupt(target, { rate: 10, seconds: yesSeconds }))
  const times = (results: { ms: number }[]) => results.map(({ ms }) => ms)
  const held = (name: string) => of(name).map(({ heldMb }) => heldMb)
  for (const { name } of readers)
    report(`^C in yes, 10 MB/s reader, ${name}`, times(of(name)), 'ms', `held ${spread(held(name))} MB`)
  goal('^C to the prompt at a 10 MB/s reader', median(times(of('console'))), 250, ' ms')
  goal('backlog of the reader', Math.max(...held('console')), 1.2, ' MB')
  const slow = await inTurns(readers.slice(-1), 2, (target) => interrupt(target, { rate: 2, seconds: yesSeconds }))
  goal('^C to the prompt at a 2 MB/s reader, worst', Math.max(...times(slow('console'))), 500, ' ms')
}

const benchAttach = async (targets: Target[], { attaches }: Amounts) => {
  const of = await inTurns(targets, attaches, attach)
  const news = (name: string) => of(name).map(({ newMs }) => newMs)
  for (const { name } of targets) report(`attach to prompt, new shell, ${name}`, news(name), 'ms')
  const again = of('console').map(({ againMs }) => againMs)
  report('reattach to prompt, console', again, 'ms')
  goal('attach to prompt, new shell', median(news('console')), 25, ' ms')
  goal('reattach to prompt', median(again), 25, ' ms')
}

const benchStopped = async (product: Product, target: Target, { stoppedSeconds }: Amounts) => {
  const processes = Object.entries(processesOf(product))
  const growth: Record<string, number> = { console: 0, service: 0 }
  const ms = await stoppedReader(target, async () => {
    await delay(settleSeconds * 1000)
    const before = processes.map(([name, pid]) => ({ name, pid, mb: residentMb(pid) }))
    const end = performance.now() + stoppedSeconds * 1000
    for (; performance.now() < end; await delay(250))
      for (const { name, pid, mb } of before) growth[name] = Math.max(growth[name] ?? 0, residentMb(pid) - mb)
  })
  for (const [name, mb] of Object.entries(growth))
    goal(`memory of the ${name} grown by, ${stoppedSeconds} s of yes to a stopped reader`, mb, 10, ' MB')
  report('reconnect after that, ^C to the prompt', [ms], 'ms')
}

const benchReconnects = async (way: Way, { reconnects: times }: Amounts) => {
  const { isSame, snapshots, reached } = await reconnects(way, times)
  report(`${times} reconnects while a shell counts`, [reached * 100], '% of the output was received before the last')
  goal(`bytes lost or repeated in ${times} reconnects (0 = none)`, isSame ? 0 : 1, 0)
  goal('of them restored from a snapshot', snapshots, 0)
}

const benchCrowd = async (ways: Way[], { sessions, crowds, crowdSeconds }: Amounts) => {
  const turns: Awaited<ReturnType<typeof crowd>>[] = []
  // A single stall of the machine is the 99th percentile of one turn, not of most.
  for (let turn = 0; turn < crowds; turn++) {
    turns.push(await crowd(ways, { sessions, seconds: crowdSeconds }))
    await delay(1000)
  }
  const at = (who: 'typed' | 'watched', part: number) => turns.map((turn) => percentile(turn[who], part))
  const keysPerSecond = median(turns.map(({ typed }) => typed.length / crowdSeconds))
  report(
    `${sessions} shells x 2 pages, ${Math.round(keysPerSecond)} keys/s, echo p50`,
    at('typed', 0.5),
    'ms',
    `p99 ${spread(at('typed', 0.99))} ms; to the watching page ${spread(at('watched', 0.5))} ms`,
  )
  goal(`echo p99 with ${sessions} shells x 2 pages`, median(at('typed', 0.99)), 50, ' ms')
  goal('to the watching page, p99', median(at('watched', 0.99)), 50, ' ms')
}

const benchPages = async (product: Product, ways: Way[], amounts: Amounts, onlyOpen = false) => {
  const pages = await openTerminalPages(
    product,
    ways.map(({ devboxId }) => devboxId),
  )
  const measure = async <T>(run: () => Promise<T>): Promise<T[]> => {
    const results: T[] = []
    while (results.length < amounts.pages + cacheRounds) results.push(await run())
    return results.slice(cacheRounds)
  }
  try {
    console.log('  in Chromium, DOM renderer')
    const opens = await measure(pages.open)
    report(
      'page open to prompt',
      opens.map(({ openMs }) => openMs),
      'ms',
      `main thread ${spread(opens.map(({ busyMs }) => busyMs))} ms`,
    )
    if (onlyOpen) return
    const floods = await measure(() => pages.flood(amounts.pageMb))
    report(`${amounts.pageMb} MB to the last line`, floods, 'ms')
    const interrupts = await measure(() => pages.interrupt(amounts.yesSeconds))
    const [ends, keys] = [interrupts.map(({ endMs }) => endMs), interrupts.map(({ keyMs }) => keyMs)]
    report('^C in yes', ends, 'ms')
    goal('^C in yes', median(ends), 500, ' ms')
    report('slowest key to a frame in yes', keys, 'ms')
    goal('slowest key to a frame in yes', median(keys), 200, ' ms')
  } finally {
    await pages.close()
  }
}

const signedIn = async ({ url, apiKey }: Product): Promise<string> => {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ api_key: apiKey }),
  })
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0]
  if (!cookie) throw new Error(`Signing in returned ${response.status}`)
  return cookie
}

/** The process ids of the console and its service, both descendants of `npm start`. */
const processesOf = ({ pid }: Product) => {
  const family = new Set([pid])
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
  const found = { console: 0, service: 0 }
  // Twice, because process ids start over at a limit.
  for (const each of [...pids, ...pids]) {
    try {
      if (!family.has(Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${each}/stat`, 'utf8'))?.[1]))) continue
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
