import { ApiError, readError } from '#lib/client/api-error.ts'
import type { ConnectionView } from '#lib/protocol/connection.ts'
import { paths } from '../address/paths.ts'
import { accountHeaders, detectAccountChange, sessionState } from './page-account.ts'

/** Rejects with an ApiError if the request didn't reach the console. */
export const requestConsole: typeof fetch = async (input, init) => {
  const headers = { ...(init?.headers as Record<string, string>), ...accountHeaders() }
  const response = await fetch(input, { ...init, headers }).catch((cause: unknown) => {
    if (init?.signal?.aborted) throw cause
    throw new ApiError('unreachable', 0, 'The console is unreachable', { cause })
  })
  // The console's own errors are JSON.
  const isFromProxy = [502, 503, 504].includes(response.status) && !isJson(response)
  if (isFromProxy)
    throw new ApiError('unreachable', response.status, "The proxy in front of the console can't reach it")
  return detectAccountChange(response)
}

const isJson = ({ headers }: Response) => /json/.test(headers.get('content-type') ?? '')

/** Calls the console's own server. Rejects with an ApiError, as service calls do. */
export const fetchConsole = async (path: string, init: RequestInit = {}): Promise<Response> => {
  const response = await requestConsole(path, { cache: 'no-store', ...init })
  if (!response.ok) throw await readError(response)
  return response
}

/** Redirects to the sign-in page when the session has ended. */
export const fetchWithSession = (path: string, init?: RequestInit): Promise<Response> =>
  fetchConsole(path, init).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) void redirectToSignIn()
    throw error
  })

export const fetchConsoleJson = async <Result>(path: string, signal: AbortSignal): Promise<Result> =>
  (await fetchWithSession(path, { signal })).json()

export const sendToConsole = async <Result>(method: string, path: string, body?: unknown): Promise<Result> => {
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) }
  return (await fetchWithSession(path, init)).json()
}

export const consoleUrl = (path: string, query: Record<string, string | number | undefined>): string => {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return parameters.length > 0 ? `${path}?${new URLSearchParams(parameters)}` : path
}

let isLeaving = false

/** Runs a sign-out. Other calls that get a 401 meanwhile don't redirect: the caller decides where to go. */
export const runSignOut = async <T>(signOut: () => Promise<T>): Promise<T> => {
  isLeaving = true
  try {
    return await signOut()
  } catch (error) {
    isLeaving = false
    throw error
  }
}

/** Redirects once, unless the browser has signed in again. Resolves to whether the page is leaving. */
export const redirectToSignIn = async (): Promise<boolean> => {
  if (isLeaving) return true
  isLeaving = true
  const state = await sessionState()
  // With a valid session, it was the service that refused the key.
  const isRefused = state === 'signed-in' && (await isKeyRefused())
  if (state !== 'signed-out' && !isRefused) {
    isLeaving = false
    return false
  }
  location.assign(paths.signIn(location.pathname + location.search, isRefused ? 'key-refused' : undefined))
  return true
}

const isKeyRefused = async (): Promise<boolean> => {
  const response = await fetchConsole('/api/connection').catch(() => undefined)
  if (!response) return false
  const { upstream }: ConnectionView = await response.json()
  return 'problem' in upstream && upstream.problem === 'key-refused'
}
