import { ServiceError } from '#lib/service/kit/errors.ts'
import { type EngineApi, EngineResponseError } from '../container/engine-api.ts'
import { jsonLines } from '../container/json-lines.ts'
import type { Registry } from './registry.ts'

const pushTimeoutMs = 60 * 60 * 1000
// The engine reports progress, but not while the registry checks a large layer.
const quietMs = 5 * 60 * 1000

const pingMs = 10_000
const untagTimeoutMs = 10_000

interface PushMessage {
  error?: string
  aux?: { Digest?: string }
}

/** Pushes a tagged image from a node. Returns its digest. */
export const pushImage = async (
  api: EngineApi,
  registry: Registry,
  { repository, tag }: { repository: string; tag: string },
  signal: AbortSignal,
): Promise<string> => {
  const failed = (problem: string, cause?: unknown) =>
    new ServiceError('unavailable', `Could not push to the registry at ${registry.host}: ${problem}`, {
      retryAfterSeconds: 10,
      cause,
    })
  let pings: NodeJS.Timeout | undefined
  try {
    const auth = (await registry.credentials()) ?? {}
    const path = `/images/${registry.address}/${repository}/push`
    const output = await api.stream('POST', path, { query: { tag }, auth, signal, timeoutMs: pushTimeoutMs })
    output.setTimeout(quietMs, () => output.destroy(new Error(`no progress for ${quietMs / 60_000} minutes`)))
    // A node may vanish without closing the connection.
    const check = () => void api.json('GET', '/_ping', { timeoutMs: pingMs }).catch((error) => output.destroy(error))
    pings = setInterval(check, pingMs).unref()
    let digest: string | undefined
    for await (const { error, aux } of jsonLines<PushMessage>(output)) {
      if (error !== undefined) throw failed(error)
      digest = aux?.Digest ?? digest
    }
    if (digest === undefined) throw failed('the engine closed the connection')
    return digest
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ServiceError) throw error
    throw failed((error as Error).message, error)
  } finally {
    clearInterval(pings)
  }
}

/** Removes names of an image, and the image with the last of them. Keeps the last one while a container uses it. */
export const untag = async (api: EngineApi, names: readonly string[]): Promise<void> => {
  for (const name of names)
    await api.json('DELETE', `/images/${name}`, { timeoutMs: untagTimeoutMs }).catch((error: unknown) => {
      if (!(error instanceof EngineResponseError) || ![404, 409].includes(error.status)) throw error
    })
}
