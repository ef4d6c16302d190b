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
  /** What was found, in words. */
  found: string
  /** What to do about it. */
  advice?: string
}

export interface CheckMeans {
  /** The console's origin. */
  origin: string
  fetch: typeof globalThis.fetch
  headers: Record<string, string>
  /** The address of a WebSocket, with the account of the page. */
  socketUrl(path: string): string
  WebSocket: typeof globalThis.WebSocket
  onResult(result: CheckResult): void
}

const waitMs = 8_000
const soundClockMs = 2_000

/** Tries each way the page talks to its console, one after the other, and names why one fails. */
export const checkConnection = async (means: CheckMeans): Promise<void> => {
  const { onResult } = means
  const first = await checkConsole(means)
  onResult(first.result)
  if (!first.view) {
    for (const name of ['service', 'write', 'stream', 'live', 'terminal', 'clock'] as const)
      onResult({ name, state: 'skipped', found: 'Not tried, as the console does not answer this page' })
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

const ask = (means: CheckMeans, path: string, init: RequestInit = {}) =>
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
    const answer = await ask(means, '/api/connection')
    const { status } = answer
    if (!answer.ok) {
      const { message } = await readError(answer)
      return { result: failed(name, `Refused with ${status}: ${message}`), halfwayMs: 0 }
    }
    const view: ConnectionView = await answer.json()
    const endedMs = Date.now()
    // The clock was read when the service had answered: what that took lies before it.
    const tookMs = 'took_ms' in view.upstream ? view.upstream.took_ms : 0
    const ownMs = Math.max(0, endedMs - startedMs - tookMs)
    return {
      result: { name, state: 'ok', found: `Answers in ${Math.round(ownMs)} ms` },
      view,
      halfwayMs: endedMs - ownMs / 2,
    }
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return {
      result: failed(
        name,
        isLate ? `No answer within ${waitMs / 1000} s` : 'The console cannot be reached',
        isLate
          ? 'The console or a proxy before it is frozen: look at its log, or start it again.'
          : 'Look whether the console runs, and whether this machine is on the network.',
      ),
      halfwayMs: 0,
    }
  }
}

const upstreamAdvice: Record<UpstreamProblem, string> = {
  away: 'Start the service, or set DEVDECK_SERVICE_URL to where it is.',
  frozen: 'The service, or a proxy before it, is stuck: look at its log, or start it again.',
  tls: 'Give the service a valid certificate, or the console its authority by NODE_EXTRA_CA_CERTS.',
  'key-refused': 'Sign in with a key that the service knows.',
  'not-a-service': 'Set DEVDECK_SERVICE_URL to the address of the service itself.',
}

const serviceResult = ({ upstream }: ConnectionView): CheckResult =>
  'problem' in upstream
    ? failed('service', upstream.detail, upstreamAdvice[upstream.problem])
    : { name: 'service', state: 'ok', found: `Answers in ${Math.round(upstream.took_ms)} ms and takes the key` }

const checkWrite = async (means: CheckMeans): Promise<CheckResult> => {
  const name = 'write'
  try {
    const answer = await ask(means, '/api/connection', { method: 'POST' })
    await answer.body?.cancel()
    if (answer.ok) return { name, state: 'ok', found: 'Taken: the console knows the address of this page as its own' }
    if (answer.status === 403)
      return failed(
        name,
        `Refused: the console does not know ${means.origin} as its own address`,
        `Set DEVDECK_ORIGIN to ${means.origin}, and have a proxy pass the Host header on unchanged.`,
      )
    return failed(name, `Refused with ${answer.status}`, 'Look at the log of a proxy.')
  } catch {
    return failed(name, `No answer within ${waitMs / 1000} s`, 'Look at the log of a proxy.')
  }
}

const checkStream = async (means: CheckMeans): Promise<CheckResult> => {
  const name = 'stream'
  try {
    const answer = await ask(means, '/api/connection/stream')
    if (!answer.ok || !answer.body) {
      await answer.body?.cancel()
      return failed(name, `Refused with ${answer.status}`, 'Look at the log of a proxy.')
    }
    let firstMs: number | undefined
    const decoder = new TextDecoder()
    let text = ''
    for (const reader = answer.body.getReader(); ; ) {
      const { done, value } = await reader.read()
      if (done) break
      firstMs ??= performance.now()
      text += decoder.decode(value, { stream: true })
    }
    if (!text.includes('data: last'))
      return failed(name, 'Cut off before its end', 'A proxy ends streams: raise its read timeout.')
    const apartMs = performance.now() - (firstMs ?? 0)
    if (apartMs < checkStreamPauseMs / 2)
      return failed(
        name,
        'Comes all at once at its end',
        'A proxy collects answers: turn its buffering off (nginx: proxy_buffering off).',
      )
    return { name, state: 'ok', found: 'Comes as it is sent' }
  } catch {
    return failed(
      name,
      `Not whole within ${waitMs / 1000} s`,
      'A proxy holds streams back: turn its buffering off (nginx: proxy_buffering off).',
    )
  }
}

const checkSocket = async (
  name: 'live' | 'terminal',
  means: CheckMeans,
  before: ConnectionView,
): Promise<CheckResult> => {
  const startedMs = performance.now()
  const outcome = await (name === 'live' ? openLive(means) : echoed(means))
  const tookMs = Math.round(performance.now() - startedMs)
  if (outcome === 'heard')
    return {
      name,
      state: 'ok',
      found: name === 'live' ? `Heard the console in ${tookMs} ms` : `Typed and sent back in ${tookMs} ms`,
    }
  if (outcome === 'silent')
    return failed(
      name,
      `Opens, and nothing is heard within ${waitMs / 1000} s`,
      'A proxy takes the WebSocket and passes nothing on: let it pass what follows an Upgrade.',
    )
  return { name, state: 'failed', ...(await whyNotOpened(means, before)) }
}

/** No browser tells why a WebSocket was not opened; the console knows whether it came, and as what. */
const whyNotOpened = async (
  means: CheckMeans,
  before: ConnectionView,
): Promise<Omit<CheckResult, 'name' | 'state'>> => {
  const now = await ask(means, '/api/connection')
    .then(async (answer): Promise<ConnectionView | undefined> => (answer.ok ? answer.json() : undefined))
    .catch(() => undefined)
  if (!now) return { found: 'Not opened, and the console no longer answers', advice: 'Look whether the console runs.' }
  if (now.stripped_upgrades > before.stripped_upgrades)
    return {
      found: 'Arrived without its Upgrade',
      advice: 'A proxy takes Upgrade out: have it pass on Upgrade and Connection, with HTTP/1.1 towards the console.',
    }
  const write = await checkWrite(means)
  if (write.state === 'failed' && write.advice !== undefined)
    return { found: 'Refused, as writes are', advice: write.advice }
  return {
    found: 'Not opened; it has not arrived at the console, or was refused there',
    advice: 'Something on the way refuses WebSockets, such as a proxy or a filter in the browser: its log says more.',
  }
}

type Outcome = 'heard' | 'silent' | 'refused'

const openLive = (means: CheckMeans): Promise<Outcome> =>
  withSocket(means, '/api/live', {
    hears: ({ data }) => {
      const notice: LiveNotice = JSON.parse(String(data))
      return notice.t === 'heartbeat'
    },
  })

const echoed = (means: CheckMeans): Promise<Outcome> => {
  const word = crypto.getRandomValues(new Uint8Array(16))
  return withSocket(means, checkSocketPath, {
    onOpen: (socket) => socket.send(word),
    hears: ({ data }) =>
      data instanceof ArrayBuffer &&
      new Uint8Array(data).every((byte, i) => byte === word[i]) &&
      data.byteLength === 16,
  })
}

const withSocket = (
  means: CheckMeans,
  path: string,
  { onOpen, hears }: { onOpen?: (socket: WebSocket) => void; hears: (event: MessageEvent) => boolean },
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
      if (hears(event)) end('heard')
    }
    socket.onclose = () => end(isOpen ? 'silent' : 'refused')
    socket.onerror = () => undefined
  })

const clockResult = (offsetMs: number): CheckResult => {
  const seconds = Math.round(Math.abs(offsetMs) / 1000)
  if (Math.abs(offsetMs) < soundClockMs)
    return { name: 'clock', state: 'ok', found: 'The same as the console’s, within 2 s' }
  return failed(
    'clock',
    `The console’s clock is ${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} this machine’s`,
    'Countdowns are corrected by it; set both machines to network time for exact times in lists.',
  )
}
