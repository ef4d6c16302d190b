'use client'
import { CircleAlert, CircleCheck, CircleDashed, LoaderCircle, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { accountHeaders, withAccount } from '#lib/browser/api/page-account.ts'
import { readError } from '#lib/client/api-error.ts'
import { clockOffsetMs } from '#lib/client/clock.ts'
import {
  type ConnectionView,
  checkSocketPath,
  checkStreamPauseMs,
  type UpstreamProblem,
} from '#lib/protocol/connection.ts'
import type { LiveNotice } from '#lib/protocol/live.ts'

const checkNames = {
  console: 'Page to console',
  service: 'Console to service',
  write: 'Writes',
  stream: 'Event stream',
  live: 'Live WebSocket',
  terminal: 'Terminal WebSocket',
  clock: 'Clock',
} as const
type CheckName = keyof typeof checkNames

export interface CheckResult {
  name: CheckName
  state: 'ok' | 'failed' | 'skipped'
  message: string
  advice?: string
}

export interface CheckEnvironment {
  origin: string
  fetch: typeof globalThis.fetch
  headers: Record<string, string>
  socketUrl(path: string): string
  WebSocket: typeof globalThis.WebSocket
  onResult(result: CheckResult): void
}

const timeoutMs = 8_000
const maxClockErrorMs = 2_000

class Failed extends Error {
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}

/** Tests each kind of connection between the page and the console, one after another. */
export const checkConnection = async (env: CheckEnvironment): Promise<void> => {
  const run = async (name: CheckName, check: () => Promise<string>) => {
    try {
      env.onResult({ name, state: 'ok', message: await check() })
    } catch (error) {
      const { message, advice } = error instanceof Failed ? error : noResponse
      env.onResult({ name, state: 'failed', message, advice })
    }
  }
  let first: Awaited<ReturnType<typeof readView>> | undefined
  await run('console', async () => {
    first = await readView(env)
    return `Responded in ${Math.round(first.consoleMs)} ms`
  })
  if (!first) {
    for (const name of ['service', 'write', 'stream', 'live', 'terminal', 'clock'] as const)
      env.onResult({ name, state: 'skipped', message: 'Skipped: the console did not respond' })
    return
  }
  const { view } = first
  await run('service', async () => checkService(view))
  await run('write', () => checkWrite(env))
  await run('stream', () => checkStream(env))
  await run('live', async () => `First message in ${await checkSocket('/api/live', env, view)} ms`)
  await run('terminal', async () => `Echoed in ${await checkSocket(checkSocketPath, env, view)} ms`)
  await run('clock', async () => checkClock(clockOffsetMs()))
}

const noResponse = new Failed(`No response within ${timeoutMs / 1000} s`, "Check the proxy's log.")

const request = (env: CheckEnvironment, path: string, init: RequestInit = {}) =>
  env.fetch(env.origin + path, {
    cache: 'no-store',
    ...init,
    headers: env.headers,
    signal: AbortSignal.timeout(timeoutMs),
  })

const readView = async (env: CheckEnvironment) => {
  const startedMs = performance.now()
  const response = await request(env, '/api/connection').catch((error: Error) => {
    if (error.name === 'TimeoutError')
      throw new Failed(noResponse.message, 'The console or a proxy in front of it hangs. Check its log or restart it.')
    throw new Failed(
      "The console can't be reached",
      'Check that the console is running and that this machine is online.',
    )
  })
  if (!response.ok) throw new Failed(`HTTP ${response.status}: ${(await readError(response)).message}`, '')
  const view: ConnectionView = await response.json()
  const endedMs = performance.now()
  const tookMs = 'took_ms' in view.upstream ? view.upstream.took_ms : 0
  return { view, consoleMs: Math.max(0, endedMs - startedMs - tookMs) }
}

const upstreamAdvice: Record<UpstreamProblem, string> = {
  away: 'Start the service, or set DEVDECK_SERVICE_URL to its address.',
  frozen: 'The service or a proxy in front of it hangs. Check its log or restart it.',
  tls: "Use a valid certificate, or set NODE_EXTRA_CA_CERTS to the service's CA.",
  'key-refused': 'Sign in with a valid API key.',
  'not-a-service': "Set DEVDECK_SERVICE_URL to the service's own address.",
}

const checkService = ({ upstream }: ConnectionView): string => {
  if ('problem' in upstream) throw new Failed(upstream.detail, upstreamAdvice[upstream.problem])
  return `Responded in ${Math.round(upstream.took_ms)} ms and accepted the key`
}

const checkWrite = async (env: CheckEnvironment): Promise<string> => {
  const response = await request(env, '/api/connection', { method: 'POST' })
  await response.body?.cancel()
  if (response.ok) return "Accepted: the console recognizes this page's origin"
  if (response.status !== 403) throw new Failed(`HTTP ${response.status}`, noResponse.advice)
  throw new Failed(
    `Rejected: the console does not recognize the origin ${env.origin}`,
    `Set DEVDECK_ORIGIN to ${env.origin}, and make sure proxies forward the Host header unchanged.`,
  )
}

const checkStream = async (env: CheckEnvironment): Promise<string> => {
  const buffering = 'A proxy buffers responses. Turn buffering off (nginx: proxy_buffering off).'
  const response = await request(env, '/api/connection/stream')
  if (!response.ok || !response.body) throw new Failed(`HTTP ${response.status}`, noResponse.advice)
  let firstMs: number | undefined
  let text = ''
  try {
    for (const reader = response.body.pipeThrough(new TextDecoderStream()).getReader(); ; ) {
      const { done, value } = await reader.read()
      if (done) break
      firstMs ??= performance.now()
      text += value
    }
  } catch {
    throw new Failed(`Incomplete after ${timeoutMs / 1000} s`, buffering)
  }
  if (!text.includes('data: last')) throw new Failed('Ended early', 'A proxy closes streams. Raise its read timeout.')
  if (performance.now() - (firstMs ?? 0) < checkStreamPauseMs / 2) throw new Failed('Arrived all at once', buffering)
  return 'Received as it was sent'
}

/** Resolves to the milliseconds until the first expected message. */
const checkSocket = async (path: string, env: CheckEnvironment, before: ConnectionView): Promise<number> => {
  const startedMs = performance.now()
  const outcome = await openSocket(path, env)
  if (outcome === 'received') return Math.round(performance.now() - startedMs)
  if (outcome === 'silent')
    throw new Failed(
      `Connected, but nothing received within ${timeoutMs / 1000} s`,
      'A proxy accepts the WebSocket but forwards no data. Let it forward upgraded connections.',
    )
  // Browsers don't report why a WebSocket failed, but the console counts requests that lost their Upgrade header.
  const now: ConnectionView = await (await request(env, '/api/connection')).json()
  if (now.stripped_upgrades > before.stripped_upgrades)
    throw new Failed(
      'Arrived without its Upgrade header',
      'A proxy removes it. Forward the Upgrade and Connection headers, and use HTTP/1.1 to the console.',
    )
  throw new Failed(
    'Not connected: it did not reach the console, or the console rejected it',
    'A proxy or a browser extension may block WebSockets. Check its log.',
  )
}

/** The live connection sends a heartbeat; the terminal's test connection echoes. */
const openSocket = (path: string, env: CheckEnvironment): Promise<'received' | 'silent' | 'refused'> =>
  new Promise((resolve) => {
    const word = crypto.getRandomValues(new Uint8Array(16))
    const socket = new env.WebSocket(env.socketUrl(path))
    socket.binaryType = 'arraybuffer'
    let isOpen = false
    const end = (outcome: 'received' | 'silent' | 'refused') => {
      clearTimeout(timer)
      socket.close()
      resolve(outcome)
    }
    const timer = setTimeout(() => end(isOpen ? 'silent' : 'refused'), timeoutMs)
    socket.onopen = () => {
      isOpen = true
      if (path === checkSocketPath) socket.send(word)
    }
    socket.onmessage = ({ data }) => {
      const isExpected =
        data instanceof ArrayBuffer
          ? new Uint8Array(data).join() === word.join()
          : (JSON.parse(String(data)) as LiveNotice).t === 'heartbeat'
      if (isExpected) end('received')
    }
    socket.onclose = () => end(isOpen ? 'silent' : 'refused')
    socket.onerror = () => undefined
  })

const checkClock = (offsetMs: number): string => {
  if (Math.abs(offsetMs) < maxClockErrorMs) return "Within 2 s of the service's"
  const seconds = Math.round(Math.abs(offsetMs) / 1000)
  throw new Failed(
    `The service's clock is ${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} this machine's`,
    "Devdeck shows times by the service's clock. Synchronize the clocks of both machines.",
  )
}

const names = Object.keys(checkNames) as CheckName[]

export const ConnectionTest = () => {
  const [results, setResults] = useState<readonly CheckResult[]>([])
  const [isRunning, setRunning] = useState(false)
  const run = async () => {
    setResults([])
    setRunning(true)
    await checkConnection({
      origin: location.origin,
      fetch: (input, init) => fetch(input, init),
      headers: accountHeaders(),
      socketUrl: (path) => withAccount(`${location.origin.replace(/^http/, 'ws')}${path}`),
      WebSocket,
      onResult: (result) => setResults((before) => [...before, result]),
    }).finally(() => setRunning(false))
  }
  const isDone = !isRunning && results.length > 0
  const passed = results.filter(({ state }) => state === 'ok').length
  return (
    <section aria-labelledby="connection-test" className="min-w-0 space-y-3">
      <h2 id="connection-test" className="text-lg font-medium">
        Connection test
      </h2>
      <p className="text-muted">
        Tests every connection between this page and the console and explains failures. It changes nothing and opens no
        shell.
      </p>
      <Button icon={Stethoscope} busy={isRunning} onClick={() => void run()}>
        {isDone ? 'Test again' : 'Test connection'}
      </Button>
      <p role="status" className="empty:hidden">
        {isDone && `${passed} of ${names.length} checks passed`}
        {isRunning && `${results.length} of ${names.length} checks done`}
      </p>
      {(isRunning || isDone) && (
        <ul aria-label="Checks" className="divide-y divide-line border-y border-line">
          {names.map((name, i) => (
            <Check
              key={name}
              name={name}
              result={results.find((each) => each.name === name)}
              isNext={isRunning && i === results.length}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

const styles = {
  ok: { tone: 'ok', icon: CircleCheck, label: 'Passed' },
  failed: { tone: 'danger', icon: CircleAlert, label: 'Failed' },
  skipped: { tone: 'neutral', icon: CircleDashed, label: 'Skipped' },
} as const

const Check = ({ name, result, isNext }: { name: CheckName; result: CheckResult | undefined; isNext: boolean }) => (
  <li className="flex flex-wrap items-start gap-x-3 gap-y-1 py-2">
    <span className="w-36 shrink-0 font-medium">{checkNames[name]}</span>
    <span className="w-24 shrink-0">
      {result && (
        <Badge tone={styles[result.state].tone} icon={styles[result.state].icon}>
          {styles[result.state].label}
        </Badge>
      )}
      {isNext && (
        <Badge tone="progress" icon={LoaderCircle} busy>
          Testing
        </Badge>
      )}
    </span>
    <span className="min-w-0 flex-1 basis-48 break-words">
      {result?.message}
      {result?.advice && <span className="block text-muted">{result.advice}</span>}
    </span>
  </li>
)
