import { readError } from '#lib/client/api-error.ts'
import {
  type ConnectionView,
  checkSocketPath,
  checkStreamPauseMs,
  type UpstreamProblem,
} from '#lib/protocol/connection.ts'
import type { LiveNotice } from '#lib/protocol/live.ts'

export const checkNames = {
  console: 'Page to console',
  service: 'Console to service',
  write: 'Writes',
  stream: 'Event stream',
  live: 'Live WebSocket',
  terminal: 'Terminal WebSocket',
  clock: 'Clock',
} as const
export type CheckName = keyof typeof checkNames

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

/** Tests each kind of connection between the page and the console, one after another. */
export const checkConnection = async (env: CheckEnvironment): Promise<void> => {
  const { onResult } = env
  const first = await checkConsole(env)
  onResult(first.result)
  if (!first.view) {
    for (const name of ['service', 'write', 'stream', 'live', 'terminal', 'clock'] as const)
      onResult({ name, state: 'skipped', message: 'Skipped: the console did not respond' })
    return
  }
  onResult(serviceResult(first.view))
  onResult(await checkWrite(env))
  onResult(await checkStream(env))
  onResult(await checkSocket('live', env, first.view))
  onResult(await checkSocket('terminal', env, first.view))
  onResult(clockResult(first.view.now_ms - first.halfwayMs))
}

const failed = (name: CheckName, message: string, advice?: string): CheckResult => ({
  name,
  state: 'failed',
  message,
  ...(advice && { advice }),
})

const request = (env: CheckEnvironment, path: string, init: RequestInit = {}) =>
  env.fetch(env.origin + path, {
    cache: 'no-store',
    ...init,
    headers: env.headers,
    signal: AbortSignal.timeout(timeoutMs),
  })

const checkConsole = async (
  env: CheckEnvironment,
): Promise<{ result: CheckResult; view?: ConnectionView; halfwayMs: number }> => {
  const name = 'console'
  const startedMs = Date.now()
  try {
    const response = await request(env, '/api/connection')
    const { status } = response
    if (!response.ok) {
      const { message } = await readError(response)
      return { result: failed(name, `HTTP ${status}: ${message}`), halfwayMs: 0 }
    }
    const view: ConnectionView = await response.json()
    const endedMs = Date.now()
    // The console reads its clock after the service has responded, so that time does not count.
    const tookMs = 'took_ms' in view.upstream ? view.upstream.took_ms : 0
    const consoleMs = Math.max(0, endedMs - startedMs - tookMs)
    return {
      result: { name, state: 'ok', message: `Responded in ${Math.round(consoleMs)} ms` },
      view,
      halfwayMs: endedMs - consoleMs / 2,
    }
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return {
      result: failed(
        name,
        isLate ? `No response within ${timeoutMs / 1000} s` : 'The console can’t be reached',
        isLate
          ? 'The console or a proxy in front of it hangs. Check its log or restart it.'
          : 'Check that the console is running and that this machine is online.',
      ),
      halfwayMs: 0,
    }
  }
}

const upstreamAdvice: Record<UpstreamProblem, string> = {
  away: 'Start the service, or set DEVDECK_SERVICE_URL to its address.',
  frozen: 'The service or a proxy in front of it hangs. Check its log or restart it.',
  tls: 'Use a valid certificate, or set NODE_EXTRA_CA_CERTS to the CA of the service.',
  'key-refused': 'Sign in with a valid API key.',
  'not-a-service': 'Set DEVDECK_SERVICE_URL to the address of the service itself.',
}

const serviceResult = ({ upstream }: ConnectionView): CheckResult =>
  'problem' in upstream
    ? failed('service', upstream.detail, upstreamAdvice[upstream.problem])
    : { name: 'service', state: 'ok', message: `Responded in ${Math.round(upstream.took_ms)} ms and accepted the key` }

const checkWrite = async (env: CheckEnvironment): Promise<CheckResult> => {
  const name = 'write'
  try {
    const response = await request(env, '/api/connection', { method: 'POST' })
    await response.body?.cancel()
    if (response.ok) return { name, state: 'ok', message: 'Accepted: the console recognizes this page’s origin' }
    if (response.status === 403)
      return failed(
        name,
        `Rejected: the console does not recognize the origin ${env.origin}`,
        `Set DEVDECK_ORIGIN to ${env.origin}, and make sure proxies forward the Host header unchanged.`,
      )
    return failed(name, `HTTP ${response.status}`, 'Check the proxy’s log.')
  } catch {
    return failed(name, `No response within ${timeoutMs / 1000} s`, 'Check the proxy’s log.')
  }
}

const checkStream = async (env: CheckEnvironment): Promise<CheckResult> => {
  const name = 'stream'
  try {
    const response = await request(env, '/api/connection/stream')
    if (!response.ok || !response.body) {
      await response.body?.cancel()
      return failed(name, `HTTP ${response.status}`, 'Check the proxy’s log.')
    }
    let firstMs: number | undefined
    const decoder = new TextDecoder()
    let text = ''
    for (const reader = response.body.getReader(); ; ) {
      const { done, value } = await reader.read()
      if (done) break
      firstMs ??= performance.now()
      text += decoder.decode(value, { stream: true })
    }
    if (!text.includes('data: last'))
      return failed(name, 'Ended early', 'A proxy closes streams. Raise its read timeout.')
    const spreadMs = performance.now() - (firstMs ?? 0)
    if (spreadMs < checkStreamPauseMs / 2)
      return failed(
        name,
        'Arrived all at once',
        'A proxy buffers responses. Turn buffering off (nginx: proxy_buffering off).',
      )
    return { name, state: 'ok', message: 'Received as it was sent' }
  } catch {
    return failed(
      name,
      `Incomplete after ${timeoutMs / 1000} s`,
      'A proxy buffers responses. Turn buffering off (nginx: proxy_buffering off).',
    )
  }
}

const checkSocket = async (
  name: 'live' | 'terminal',
  env: CheckEnvironment,
  before: ConnectionView,
): Promise<CheckResult> => {
  const startedMs = performance.now()
  const outcome = await (name === 'live' ? openLive(env) : echo(env))
  const tookMs = Math.round(performance.now() - startedMs)
  if (outcome === 'received')
    return {
      name,
      state: 'ok',
      message: name === 'live' ? `First message in ${tookMs} ms` : `Echoed in ${tookMs} ms`,
    }
  if (outcome === 'silent')
    return failed(
      name,
      `Connected, but nothing received within ${timeoutMs / 1000} s`,
      'A proxy accepts the WebSocket but forwards no data. Let it forward upgraded connections.',
    )
  return { name, state: 'failed', ...(await whyNotOpened(env, before)) }
}

/** Browsers don't report why a WebSocket failed, but the console counts requests that lost their Upgrade header. */
const whyNotOpened = async (
  env: CheckEnvironment,
  before: ConnectionView,
): Promise<Omit<CheckResult, 'name' | 'state'>> => {
  const now = await request(env, '/api/connection')
    .then(async (response): Promise<ConnectionView | undefined> => (response.ok ? response.json() : undefined))
    .catch(() => undefined)
  if (!now)
    return {
      message: 'Not connected, and the console stopped responding',
      advice: 'Check that the console is running.',
    }
  if (now.stripped_upgrades > before.stripped_upgrades)
    return {
      message: 'Arrived without its Upgrade header',
      advice: 'A proxy removes it. Forward the Upgrade and Connection headers, and use HTTP/1.1 to the console.',
    }
  const write = await checkWrite(env)
  if (write.state === 'failed' && write.advice !== undefined)
    return { message: 'Rejected, like writes', advice: write.advice }
  return {
    message: 'Not connected: it did not reach the console, or the console rejected it',
    advice: 'A proxy or a browser extension may block WebSockets. Check its log.',
  }
}

type Outcome = 'received' | 'silent' | 'refused'

const openLive = (env: CheckEnvironment): Promise<Outcome> =>
  withSocket(env, '/api/live', {
    isExpected: ({ data }) => {
      const notice: LiveNotice = JSON.parse(String(data))
      return notice.t === 'heartbeat'
    },
  })

const echo = (env: CheckEnvironment): Promise<Outcome> => {
  const word = crypto.getRandomValues(new Uint8Array(16))
  return withSocket(env, checkSocketPath, {
    onOpen: (socket) => socket.send(word),
    isExpected: ({ data }) =>
      data instanceof ArrayBuffer &&
      new Uint8Array(data).every((byte, i) => byte === word[i]) &&
      data.byteLength === 16,
  })
}

const withSocket = (
  env: CheckEnvironment,
  path: string,
  { onOpen, isExpected }: { onOpen?: (socket: WebSocket) => void; isExpected: (event: MessageEvent) => boolean },
): Promise<Outcome> =>
  new Promise((resolve) => {
    const socket = new env.WebSocket(env.socketUrl(path))
    socket.binaryType = 'arraybuffer'
    let isOpen = false
    const end = (outcome: Outcome) => {
      clearTimeout(timer)
      socket.close()
      resolve(outcome)
    }
    const timer = setTimeout(() => end(isOpen ? 'silent' : 'refused'), timeoutMs)
    socket.onopen = () => {
      isOpen = true
      onOpen?.(socket)
    }
    socket.onmessage = (event) => {
      if (isExpected(event)) end('received')
    }
    socket.onclose = () => end(isOpen ? 'silent' : 'refused')
    socket.onerror = () => undefined
  })

const clockResult = (offsetMs: number): CheckResult => {
  const seconds = Math.round(Math.abs(offsetMs) / 1000)
  if (Math.abs(offsetMs) < maxClockErrorMs)
    return { name: 'clock', state: 'ok', message: 'Within 2 s of the console’s' }
  return failed(
    'clock',
    `The console’s clock is ${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} this machine’s`,
    'Countdowns account for this. Synchronize both machines with network time for exact times in lists.',
  )
}
