import { ApiError, readError } from '#lib/client/api-error.ts'
import type { ConnectionView } from '#lib/protocol/connection.ts'
import { paths } from '../address/paths.ts'
import { namedAccount, watchAccount } from './page-account.ts'
import { sessionState } from './signed-out.ts'

/** Asks the console itself, for what no service knows. Rejects with an ApiError, as a call of the service does. */
export const askConsole = async (path: string, init: RequestInit = {}): Promise<Response> => {
  const headers = { ...(init.headers as Record<string, string>), ...namedAccount() }
  const response = await fetch(path, { cache: 'no-store', ...init, headers }).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause
    throw new ApiError('unreachable', 0, 'The console itself cannot be reached', { cause })
  })
  watchAccount(response)
  if (!response.ok) throw await readError(response)
  return response
}

/** The same from a page that needs a session: once that is over, the page is led to the sign-in page. */
export const askConsoleSignedIn = (path: string, init?: RequestInit): Promise<Response> =>
  askConsole(path, init).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) void leaveForSignIn()
    throw error
  })

/** The JSON that the console answers. */
export const readConsole = async <Answer>(path: string, signal: AbortSignal): Promise<Answer> =>
  (await askConsoleSignedIn(path, { signal })).json()

/** Sends a body as JSON and returns the JSON of the answer. */
export const sendToConsole = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) }
  return (await askConsoleSignedIn(path, init)).json()
}

/** An address of the console with a query of the values that are given. */
export const consoleAddress = (path: string, query: Record<string, string | number | undefined>): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path
}

let leaving = false

/** Signs out. A call that finds the session over meanwhile does not lead away: the page that signed out decides where to. */
export const leaveBy = async <T>(signOut: () => Promise<T>): Promise<T> => {
  leaving = true
  try {
    return await signOut()
  } catch (error) {
    leaving = false
    throw error
  }
}

/**
 * Many calls may find out at once; the page leaves once. It stays, with what was typed, where the browser was signed in
 * to another account, or to the same one anew while the call was on its way. Resolves to whether it leaves.
 */
export const leaveForSignIn = async (): Promise<boolean> => {
  if (leaving) return true
  leaving = true
  const state = await sessionState()
  // With a good session it is the service that has refused, and the sign-in page has to say so.
  const isRefused = state === 'signed-in' && (await isKeyRefused())
  if (state !== 'signed-out' && !isRefused) {
    leaving = false
    return false
  }
  location.assign(paths.signIn(location.pathname + location.search, isRefused ? 'key-refused' : undefined))
  return true
}

const isKeyRefused = async (): Promise<boolean> => {
  const answer = await askConsole('/api/connection').catch(() => undefined)
  if (!answer) return false
  const { upstream }: ConnectionView = await answer.json()
  return 'problem' in upstream && upstream.problem === 'key-refused'
}
