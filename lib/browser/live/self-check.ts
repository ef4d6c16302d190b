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
  found: string
  advice?: string
}

export interface CheckMeans {
  origin: string
  fetch: typeof globalThis.fetch
  headers: Record<string, string>
  socketUrl(path: string): string
  WebSocket: typeof globalThis.WebSocket
  onResult(result: CheckResult): void
}

const waitMs = 8_000
const soundClockMs = 2_000

/** Checks each connection of the page one by one. */
export const checkConnection = async (means: CheckMeans): Promise<void> => {
  const { onResult } = means
  const first = await checkConsole(means)
  onResult(first.result)
  if (!first.view) {
    for (const name of ['service', 'write', 'stream', 'live', 'terminal', 'clock'] as const)
      onResult({ name, state: 'skipped', found: "Skipped because the console isn't responding" })
    return
  }
  onResult(serviceResult(first.view))
  onResult(await checkWrite(means))
  onResult(await checkStream(means))
  onResult(await checkSocket('live', means, first.view))
  onResult(await checkSocket('terminal', means, first.view))
  onResult(clockResult(first.view.now_ms - first.halfwayMs))
}

const failed = (name: CheckName, found: string, advice?: string): CheckResult => ({
  name,
  state: 'failed',
  found,
  ...(advice && { advice }),
})

const request = (means: CheckMeans, path: string, init: RequestInit = {}) =>
  means.fetch(means.origin + path, {
    cache: 'no-store',
    ...init,
    headers: means.headers,
    signal: AbortSignal.timeout(waitMs),
  })

const checkConsole = async (
  means: CheckMeans,
): Promise<{ result: CheckResult; view?: ConnectionView; halfwayMs: number }> => {
  const name = 'console'
  const startedMs = Date.now()
  try {
    const response = await request(means, '/api/connection')
    const { status } = response
    if (!response.ok) {
      const { message } = await readError(response)
      return { result: failed(name, `Refused with ${status}: ${message}`), halfwayMs: 0 }
    }
    const view: ConnectionView = await response.json()
    const endedMs = Date.now()
    // The console reads its clock after the service has responded, so that time doesn't count.
    const tookMs = 'took_ms' in view.upstream ? view.upstream.took_ms : 0
    const ownMs = Math.max(0, endedMs - startedMs - tookMs)
    return {
      result: { name, state: 'ok', found: `Responds in ${Math.round(ownMs)} ms` },
      view,
      halfwayMs: endedMs - ownMs / 2,
    }
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return {
      result: failed(
        name,
        isLate ? `No response within ${waitMs / 1000} s` : 'The console is unreachable',
        isLate
          ? 'The console or a proxy in front of it is stuck. Check its log or restart it.'
          : 'Check that the console is running and that this machine is online.',
      ),
      halfwayMs: 0,
    }
  }
}

const upstreamAdvice: Record<UpstreamProblem, string> = {
  away: 'Start the service, or set DEVDECK_SERVICE_URL to its address.',
  frozen: 'The service or a proxy in front of it is stuck. Check its log or restart it.',
  tls: 'Use a valid certificate for the service, or add its CA with NODE_EXTRA_CA_CERTS.',
  'key-refused': 'Sign in with a valid API key.',
  'not-a-service': 'Set DEVDECK_SERVICE_URL to the address of the service itself.',
}

const serviceResult = ({ upstream }: ConnectionView): CheckResult =>
  'problem' in upstream
    ? failed('service', upstream.detail, upstreamAdvice[upstream.problem])
    : { name: 'service', state: 'ok', found: `Responds in ${Math.round(upstream.took_ms)} ms and accepts the key` }

const checkWrite = async (means: CheckMeans): Promise<CheckResult> => {
  const name = 'write'
  try {
    const response = await request(means, '/api/connection', { method: 'POST' })
    await response.body?.cancel()
    if (response.ok) return { name, state: 'ok', found: 'Accepted' }
    if (response.status === 403)
      return failed(
        name,
        `Refused: ${means.origin} is not an allowed origin`,
        `Set DEVDECK_ORIGIN to ${means.origin}, and make the proxy pass the Host header unchanged.`,
      )
    return failed(name, `Refused with ${response.status}`, 'Check the log of the proxy.')
  } catch {
    return failed(name, `No response within ${waitMs / 1000} s`, 'Check the log of the proxy.')
  }
}

const checkStream = async (means: CheckMeans): Promise<CheckResult> => {
  const name = 'stream'
  try {
    const response = await request(means, '/api/connection/stream')
    if (!response.ok || !response.body) {
      await response.body?.cancel()
      return failed(name, `Refused with ${response.status}`, 'Check the log of the proxy.')
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
    if (!text.includes('data: last')) return failed(name, 'Cut off', 'A proxy closes streams. Raise its read timeout.')
    const apartMs = performance.now() - (firstMs ?? 0)
    if (apartMs < checkStreamPauseMs / 2)
      return failed(
        name,
        'Arrives all at once at the end',
        'A proxy buffers responses. Turn buffering off (nginx: proxy_buffering off).',
      )
    return { name, state: 'ok', found: 'Arrives without buffering' }
  } catch {
    return failed(
      name,
      `Incomplete after ${waitMs / 1000} s`,
      'A proxy buffers streams. Turn buffering off (nginx: proxy_buffering off).',
    )
  }
}

const checkSocket = async (
  name: 'live' | 'terminal',
  means: CheckMeans,
  before: ConnectionView,
): Promise<CheckResult> => {
  const startedMs = performance.now()
  const outcome = await (name === 'live' ? checkLive(means) : checkEcho(means))
  const tookMs = Math.round(performance.now() - startedMs)
  if (outcome === 'ok')
    return {
      name,
      state: 'ok',
      found: name === 'live' ? `First message in ${tookMs} ms` : `Echoed in ${tookMs} ms`,
    }
  if (outcome === 'silent')
    return failed(
      name,
      `Opens, but no message within ${waitMs / 1000} s`,
      'A proxy accepts WebSockets but forwards nothing. Configure it to proxy upgraded connections.',
    )
  return { name, state: 'failed', ...(await diagnose(means, before)) }
}

/** Browsers don't report why a WebSocket failed; the console counts the requests that reached it. */
const diagnose = async (means: CheckMeans, before: ConnectionView): Promise<Omit<CheckResult, 'name' | 'state'>> => {
  const now = await request(means, '/api/connection')
    .then(async (response): Promise<ConnectionView | undefined> => (response.ok ? response.json() : undefined))
    .catch(() => undefined)
  if (!now) return { found: "Failed, and the console isn't responding", advice: 'Check that the console is running.' }
  if (now.stripped_upgrades > before.stripped_upgrades)
    return {
      found: 'Arrived without the Upgrade header',
      advice: 'A proxy removes the Upgrade header. Configure it to pass Upgrade and Connection over HTTP/1.1.',
    }
  const write = await checkWrite(means)
  if (write.state === 'failed' && write.advice !== undefined)
    return { found: 'Refused, like writes', advice: write.advice }
  return {
    found: 'Not opened: it did not reach the console, or was refused there',
    advice: 'A proxy or browser extension may block WebSockets. Check its log.',
  }
}

type Outcome = 'ok' | 'silent' | 'refused'

const checkLive = (means: CheckMeans): Promise<Outcome> =>
  withSocket(means, '/api/live', {
    accepts: ({ data }) => {
      const notice: LiveNotice = JSON.parse(String(data))
      return notice.t === 'heartbeat'
    },
  })

const checkEcho = (means: CheckMeans): Promise<Outcome> => {
  const message = crypto.getRandomValues(new Uint8Array(16))
  return withSocket(means, checkSocketPath, {
    onOpen: (socket) => socket.send(message),
    accepts: ({ data }) =>
      data instanceof ArrayBuffer &&
      new Uint8Array(data).every((byte, i) => byte === message[i]) &&
      data.byteLength === 16,
  })
}

const withSocket = (
  means: CheckMeans,
  path: string,
  { onOpen, accepts }: { onOpen?: (socket: WebSocket) => void; accepts: (event: MessageEvent) => boolean },
): Promise<Outcome> =>
  new Promise((resolve) => {
    const socket = new means.WebSocket(means.socketUrl(path))
    socket.binaryType = 'arraybuffer'
    let isOpen = false
    const end = (outcome: Outcome) => {
      clearTimeout(timer)
      socket.close()
      resolve(outcome)
    }
    const timer = setTimeout(() => end(isOpen ? 'silent' : 'refused'), waitMs)
    socket.onopen = () => {
      isOpen = true
      onOpen?.(socket)
    }
    socket.onmessage = (event) => {
      if (accepts(event)) end('ok')
    }
    socket.onclose = () => end(isOpen ? 'silent' : 'refused')
    socket.onerror = () => undefined
  })

const clockResult = (offsetMs: number): CheckResult => {
  const seconds = Math.round(Math.abs(offsetMs) / 1000)
  if (Math.abs(offsetMs) < soundClockMs) return { name: 'clock', state: 'ok', found: 'Within 2 s of the console' }
  return failed(
    'clock',
    `The console's clock is ${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} this machine's`,
    'Countdowns account for it. Synchronize both clocks for exact times in lists.',
  )
}
