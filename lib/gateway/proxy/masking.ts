import type { Endpoint } from '#lib/contract/endpoint.ts'
import { mask } from '#lib/protocol/mask.ts'
import { maskingRecord, maskingYaml } from '#lib/protocol/secrets.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { HttpError } from '../http/handle-request.ts'
import { runInTurns } from '../limits/fair-scheduler.ts'
import { clientFor, withBody } from '../upstream/client.ts'

/** Whether responses of this path contain configuration of jobs and runs. */
export const containsJobConfig = (path: string): boolean => /^\/v1\/(benchmark|scenario)/.test(path)

/** Whether a body may contain masked configuration. Form uploads never came from a page. */
export const acceptsJobConfig = ({ method, path, bodyFormat }: Endpoint): boolean =>
  method !== 'GET' && bodyFormat !== 'multipart' && containsJobConfig(path)

/** Masks secrets in a JSON response, in turns shared fairly between accounts. */
export const maskResponse = async (text: string, account: string): Promise<string> =>
  /"(kwargs|environment_variables|inline_yaml)"/.test(text)
    ? JSON.stringify(await runInTurns(account, maskingRecord(JSON.parse(text))))
    : text

export const maskingFetch =
  (account: string) =>
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    if (!response.ok || !isJson || !containsJobConfig(contractPath(String(input)))) return response
    return withBody(response, await maskResponse(await response.text(), account))
  }

/** The path from `/v1` on: the service's base URL may have a path. */
const contractPath = (url: string): string => {
  const { pathname } = new URL(url)
  return pathname.slice(Math.max(0, pathname.indexOf('/v1/')))
}

export const readJob = async (apiKey: string, id: string): Promise<unknown> =>
  clientFor(apiKey, 15_000)
    .benchmarkJobs.get({ params: { id } })
    .catch((error: { status?: number }) => {
      if (error.status === 404) throw new HttpError('not_found', `Job ${id} not found`)
      throw new HttpError('unavailable', 'The job could not be read from the service')
    })

export const valueAt = (record: unknown, pointer: readonly (string | number)[]): unknown =>
  pointer.reduce<unknown>(
    (found, field) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, field)
        ? (found as Record<string | number, unknown>)[field]
        : undefined,
    record,
  )

/** JSON may contain the mask literally or escaped. */
const maskBytes = [Buffer.from(mask), Buffer.from('\\u2022'.repeat(mask.length))]
const longestMask = Math.max(...maskBytes.map(({ length }) => length))

/** Passes a body through and throws if it contains a mask. */
export async function* rejectMasks(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let tail: Uint8Array = new Uint8Array()
  for await (const chunk of body) {
    const both = Buffer.concat([tail, chunk])
    if (maskBytes.some((bytes) => both.includes(bytes))) throw maskedValue('spec')
    tail = both.subarray(Math.max(0, both.length - longestMask + 1))
    yield chunk
  }
}

const maskedValue = (field: string) =>
  new HttpError('invalid_argument', `${field} contains ${mask} in place of a hidden value; enter the value`, { field })

interface AgentConfig {
  name?: unknown
  model_name?: unknown
}

/** The body for a new job, with masks replaced by the values of the job it was cloned from. */
export const restoreMaskedValues = async (
  body: unknown,
  { account, api_key }: KeyHolder,
  jobId: string,
): Promise<unknown> => {
  const job = (await readJob(api_key, jobId)) as {
    job_source?: { inline_yaml?: string | null } | null
    job_spec?: { agent_configs?: AgentConfig[] } | null
  }
  const spec = (body as { spec?: { inline_yaml?: unknown; agent_configs?: unknown } } | null)?.spec
  if (!spec) return body
  const restored: Record<string, unknown> = { ...spec }
  if (typeof spec.inline_yaml === 'string') {
    const original = job.job_source?.inline_yaml ?? ''
    const masked = await runInTurns(account.id, maskingYaml(original))
    restored.inline_yaml = restoreYaml(spec.inline_yaml, original, masked)
  }
  if (Array.isArray(spec.agent_configs))
    restored.agent_configs = (spec.agent_configs as AgentConfig[]).map((agent, i) => {
      const originals = job.job_spec?.agent_configs ?? []
      const isSame = (each: AgentConfig | undefined) =>
        each?.name === agent?.name && (each?.model_name ?? null) === (agent?.model_name ?? null)
      // One agent may be listed twice with different values.
      const [same, ...others] = originals.filter(isSame)
      const original = isSame(originals[i]) || others.length > 0 ? originals[i] : same
      return restoreValue(agent, original, `spec.agent_configs.${i}`)
    })
  return { ...(body as object), spec: restored }
}

const restoreValue = (value: unknown, original: unknown, field: string): unknown => {
  if (typeof value === 'string') {
    if (!value.includes(mask)) return value
    const isScalar = typeof original === 'string' || typeof original === 'number'
    if (!isScalar || !isMaskOf(value, original)) throw maskedValue(field)
    return original
  }
  if (Array.isArray(value))
    return value.map((each, i) =>
      restoreValue(each, Array.isArray(original) ? original[i] : undefined, `${field}.${i}`),
    )
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      restoreValue(each, valueAt(original, [name]), `${field}.${name}`),
    ]),
  )
}

/** Whether the text around the masks matches the original. */
const isMaskOf = (value: string, original: string | number): boolean => {
  const parts = value.split(mask)
  const text = String(original)
  return text.startsWith(parts[0] ?? '') && text.endsWith(parts.at(-1) ?? '')
}

/** Replaces masked lines by their originals; among lines that look alike, by position. */
const restoreYaml = (yaml: string, original: string, masked: string): string => {
  const originals = new Map<string, string[]>()
  const originalLines = original.split('\n')
  for (const [i, line] of masked.split('\n').entries())
    if (line.includes(mask)) originals.set(line, [...(originals.get(line) ?? []), originalLines[i] ?? ''])
  const lines = yaml.split('\n')
  const counts = new Map<string, number>()
  return lines
    .map((line, i) => {
      if (!line.includes(mask)) return line
      const found = originals.get(line) ?? []
      const index = counts.get(line) ?? 0
      counts.set(line, index + 1)
      const isUnambiguous = new Set(found).size === 1 || found.length === lines.filter((each) => each === line).length
      const restored = isUnambiguous ? found[Math.min(index, found.length - 1)] : undefined
      if (restored === undefined)
        throw new HttpError('invalid_argument', `line ${i + 1}: ${mask} hides a value; enter the value`, {
          field: 'spec.inline_yaml',
        })
      return restored
    })
    .join('\n')
}
