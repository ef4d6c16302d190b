import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pendingCountHeader } from '#lib/contract/evictions.ts'
import { startServer } from '#lib/gateway/testing.ts'
import type { Alert, Receivers } from '#lib/protocol/alerts.ts'
import { seededRandom } from '#lib/service/testing/random.ts'

interface Options {
  /** Starts a console that prints its address. */
  command: readonly string[]
  restarts: number
  kills: number
  /** Reproduces the random times of an earlier run. */
  seed?: number
}

interface Report {
  seed: number
  alerts: number
  deliveries: number
  /** Deliveries that a receiver accepted again after a kill, under the same id. */
  repeated: number
  problems: string[]
}

const apiKey = 'ak_receivers'
const events = ['alert.raised', 'alert.acknowledged', 'alert.closed']
const maxSpacingMs = 200
const maxRunMs = 1_500
const giveUpMs = 120_000
/** Longer than alerts wait for the name of their devbox. */
const slowLookupMs = 900
const slowEvery = 8

const receiverNames = ['sound', 'failing', 'hanging', 'redirecting', 'rejecting'] as const
type ReceiverName = (typeof receiverNames)[number]
const rejects = (name: ReceiverName) => name === 'redirecting' || name === 'rejecting'

/**
 * Raises, acknowledges and closes alerts all the time, while the console is restarted and killed at random moments. One
 * receiver fails and one hangs until the end, and two never accept a message.
 */
export const receiverRounds = async ({ command, restarts, kills, seed = Date.now() }: Options): Promise<Report> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-receivers-'))
  const below = seededRandom(seed)
  const service = await startScriptedService()
  const receivers = await startReceivers()
  writeFileSync(join(dataDir, 'receivers.json'), JSON.stringify(receivers.file), { mode: 0o600 })
  const environment = {
    PORT: '0',
    DEVDECK_SERVICE_URL: service.url,
    DEVDECK_DATA_DIR: join(dataDir, 'data'),
    DEVDECK_RECEIVERS: join(dataDir, 'receivers.json'),
  }
  const problems: string[] = []
  const start = () => startProcess(command, environment)
  let running: Awaited<ReturnType<typeof start>> | undefined
  const ask: Ask = async (...request) => running?.ask(...request)
  try {
    running = await start()
    let isOver = false
    const driven: Promise<string>[] = []
    const raising = (async () => {
      for (let i = 0; !isOver; i++) {
        driven.push(driveAlert(`dbx_${i}`, service, ask, problems))
        await delay(below(maxSpacingMs))
      }
    })()
    for (const signal of shuffled([...Array(restarts).fill('SIGTERM'), ...Array(kills).fill('SIGKILL')], below)) {
      await delay(below(maxRunMs))
      const code = await running.end(signal)
      if (signal === 'SIGTERM' && code !== 0) problems.push(`a graceful stop exited with ${code}`)
      running = await start()
    }
    isOver = true
    await raising
    const alerts = await Promise.all(driven)
    receivers.recover()
    await until(async () => (await readReceivers(ask)).every(({ waiting }) => waiting === 0))
    problems.push(...shownProblems(await readReceivers(ask)), ...receivers.problems(alerts))
    return { seed, alerts: alerts.length, ...receivers.counts(), problems }
  } finally {
    await running?.end('SIGKILL')
    receivers.close()
    service.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

type Ask = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown } | undefined>

const startProcess = async (command: readonly string[], environment: Record<string, string>) => {
  const { NODE_OPTIONS: _, VITEST: __, ...own } = process.env
  const child = spawn(process.execPath, command, { env: { ...own, ...environment }, stdio: ['pipe', 'pipe', 'pipe'] })
  const url = await printedUrl(child)
  const headers = { 'content-type': 'application/json', origin: url, 'sec-fetch-site': 'same-origin' }
  const signIn = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ api_key: apiKey }),
  })
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  return {
    /** Undefined while the console is down. */
    ask: (async (method, path, body) => {
      try {
        const response = await fetch(url + path, {
          method,
          headers: { ...headers, cookie },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        return { status: response.status, body: await response.json() }
      } catch {
        return undefined
      }
    }) as Ask,
    end: async (signal: NodeJS.Signals) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
      return child.exitCode
    },
  }
}

const printedUrl = async (child: ChildProcess): Promise<string> => {
  let printed = ''
  return await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data) => {
        printed += data
        const url = /console on (http:\/\/\S+)/.exec(printed)?.[1]
        if (url) resolve(url)
      })
    child.once('exit', (code) => reject(new Error(`The console exited with ${code}: ${printed}`)))
  })
}

const until = async (isTrue: () => Promise<boolean>): Promise<boolean> => {
  const lastMs = performance.now() + giveUpMs
  for (let found = await isTrue(); !found; found = await isTrue()) {
    if (performance.now() > lastMs) return false
    await delay(20)
  }
  return true
}

/** Repeats each request until the console shows its effect: it may be killed before or after it. Returns the alert's id. */
const driveAlert = async (
  devboxId: string,
  service: Awaited<ReturnType<typeof startScriptedService>>,
  ask: Ask,
  problems: string[],
): Promise<string> => {
  const id = service.evict(devboxId)
  const alert = async () =>
    (await ask('GET', `/api/alerts/alert/${encodeURIComponent(id)}`))?.body as Partial<Alert> | undefined
  const steps = [
    {
      what: 'announced',
      act: async () => undefined,
      isDone: ({ receivers = [] }: Partial<Alert>) => receivers.length === receiverNames.length,
    },
    {
      what: 'acknowledged',
      act: () => ask('POST', '/api/alerts/acknowledge', { ids: [id] }),
      isDone: ({ state }: Partial<Alert>) => state !== 'new' && state !== undefined,
    },
    {
      what: 'closed',
      act: () => ask('POST', `/api/v1/devboxes/${devboxId}/suspend`, {}),
      isDone: ({ closed_ms }: Partial<Alert>) => typeof closed_ms === 'number',
    },
  ]
  for (const { what, act, isDone } of steps) {
    const isKnown = await until(async () => {
      await act()
      return isDone((await alert()) ?? {})
    })
    if (!isKnown) {
      problems.push(`${id} was not ${what}: ${JSON.stringify(await alert())}`)
      break
    }
  }
  return id
}

const readReceivers = async (ask: Ask) => {
  const response = await ask('GET', '/api/alerts/receivers')
  if (!response) throw new Error('The console did not list its receivers')
  return (response.body as Receivers).receivers
}

const shownProblems = (shown: Receivers['receivers']): string[] =>
  shown.flatMap(({ name, failure, deliveries, waiting }) => {
    const answer = name === 'redirecting' ? 'HTTP 302' : name === 'rejecting' ? 'HTTP 400' : undefined
    const state = answer ? 'failed' : 'delivered'
    return [
      ...(failure?.answer === answer ? [] : [`${name} shows the failure ${JSON.stringify(failure)}`]),
      ...(deliveries.length > 0 && deliveries.every((each) => each.state === state)
        ? []
        : [`${name} shows deliveries that are not ${state}`]),
      ...(waiting === 0 ? [] : [`${name} still has ${waiting} messages to deliver`]),
    ]
  })

/** Devboxes that run until they are suspended, and an eviction stream that repeats the pending ones. */
const startScriptedService = async () => {
  const pending = new Map<string, number>()
  const suspended = new Set<string>()
  const watching = new Set<ServerResponse>()
  const dataOf = (devbox_id: string, eviction_deadline_ms: number) =>
    `data: ${JSON.stringify({ devbox_id, eviction_deadline_ms })}\n\n`
  const devboxOf = (id: string) => ({
    id,
    name: `box ${id}`,
    status: suspended.has(id) ? 'suspended' : 'running',
    metadata: {},
    create_time_ms: 1,
    launch_parameters: {},
    state_transitions: [],
  })
  const { url, close } = await startServer((request, response) => {
    const answer = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const [, , area = '', id = '', action] = (request.url ?? '').split('?')[0]?.split('/') ?? []
    if (action === 'watch' || id === 'watch') {
      watching.add(response)
      request.on('close', () => watching.delete(response))
      response.writeHead(200, { 'content-type': 'text/event-stream', [pendingCountHeader]: String(pending.size) })
      return response.write(`: connected\n\n${[...pending].map((each) => dataOf(...each)).join('')}`)
    }
    if (area === 'accounts') return answer({ id: 'acc', name: 'Ada' })
    if (area !== 'devboxes' || id === '') return answer({ [area]: [], has_more: false, total_count: 0 })
    if (action === 'suspend') {
      suspended.add(id)
      pending.delete(id)
    }
    const isSlow = action === undefined && Number(id.slice('dbx_'.length)) % slowEvery === 0
    if (isSlow) return setTimeout(() => answer(devboxOf(id)), slowLookupMs)
    return answer(devboxOf(id))
  })
  return {
    url,
    close,
    /** Returns the id of the alert. */
    evict: (id: string): string => {
      const deadlineMs = Date.now() + 3_600_000
      pending.set(id, deadlineMs)
      for (const response of watching) response.write(dataOf(id, deadlineMs))
      return `${id}@${deadlineMs}`
    },
  }
}

interface Attempt {
  delivery: string
  event: string
  alerts: string[]
  isAccepted: boolean
}

const startReceivers = async () => {
  const attempts = new Map<ReceiverName, Attempt[]>(receiverNames.map((name) => [name, []]))
  let isRecovered = false
  let followed = 0
  const target = await startServer((_, response) => {
    followed += 1
    response.end()
  })
  const servers = await Promise.all(
    receiverNames.map((name) =>
      startServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk)
        const { event, alerts } = JSON.parse(String(Buffer.concat(chunks))) as { event: string; alerts: Alert[] }
        const isAccepted = !rejects(name) && (name === 'sound' || isRecovered)
        const delivery = String(request.headers['devdeck-delivery'])
        attempts.get(name)?.push({ delivery, event, alerts: alerts.map(({ id }) => id), isAccepted })
        if (name === 'redirecting') response.writeHead(302, { location: target.url }).end()
        else if (name === 'rejecting') response.writeHead(400).end()
        else if (isAccepted) response.end()
        else if (name === 'failing') response.writeHead(503).end()
      }),
    ),
  )
  return {
    file: servers.map(({ url }, i) => ({
      name: receiverNames[i],
      format: 'json',
      url,
      api_key: apiKey,
      private: true,
    })),
    recover: () => {
      isRecovered = true
    },
    counts: () => {
      const accepted = [...attempts.values()].flat().filter(({ isAccepted }) => isAccepted)
      const deliveries = new Set(accepted.map(({ delivery }) => delivery)).size
      return { deliveries, repeated: accepted.length - deliveries }
    },
    problems: (alerts: readonly string[]): string[] => [
      ...(followed === 0 ? [] : [`redirects were followed ${followed} times`]),
      ...receiverNames.flatMap((name) => receiverProblems(name, attempts.get(name) ?? [], alerts)),
    ],
    close: () => {
      for (const { close } of [...servers, target]) close()
    },
  }
}

/** Checks that every state of every alert was delivered once, in order. For receivers that reject everything, the first try counts. */
const receiverProblems = (name: ReceiverName, attempts: readonly Attempt[], alerts: readonly string[]): string[] => {
  const arrived = attempts.filter(({ isAccepted }) => isAccepted || rejects(name))
  const ids = new Map<string, Set<string>>()
  const order = new Map<string, string[]>()
  for (const { delivery, event, alerts } of arrived)
    for (const id of alerts) {
      const key = `${id} ${event}`
      if (!ids.has(key)) order.set(id, [...(order.get(id) ?? []), event])
      ids.set(key, (ids.get(key) ?? new Set()).add(delivery))
    }
  return [
    ...alerts.flatMap((id) => {
      const got = order.get(id)?.join(', ')
      return got === events.join(', ') ? [] : [`${name} got ${got ?? 'nothing'} about ${id}`]
    }),
    ...[...ids].flatMap(([key, deliveries]) =>
      deliveries.size === 1 ? [] : [`${name} got ${key} in ${deliveries.size} deliveries`],
    ),
  ]
}

const shuffled = <T>(items: readonly T[], below: (limit: number) => number): T[] => {
  const left = [...items]
  return items.map(() => left.splice(below(left.length), 1)[0] as T)
}
