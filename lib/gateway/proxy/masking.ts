import * as z from 'zod/mini'
import { idPattern } from '#lib/contract/common.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { mask } from '#lib/protocol/mask.ts'
import { maskingRecord, maskingYaml } from '#lib/protocol/secrets.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { readJsonBody } from '../http/request-body.ts'
import { runInTurns } from '../limits/fair-scheduler.ts'
import { clientFor } from '../upstream/client.ts'

/** Whether answers of this path hold the configuration of jobs and runs. */
export const containsJobConfig = (path: string): boolean => /^\/v1\/(benchmark|scenario)/.test(path)

/** Whether a body for this endpoint may hold configuration that a page was shown with masks. The files of a form are no page's. */
export const acceptsJobConfig = ({ method, path, bodyFormat }: Endpoint): boolean =>
  method !== 'GET' && bodyFormat !== 'multipart' && containsJobConfig(path)

/** The JSON of an answer with what looks secret in the configuration of its records hidden, in turns of the account that has asked. */
export const maskResponse = async (text: string, account: string): Promise<string> =>
  /"(kwargs|environment_variables|inline_yaml)"/.test(text)
    ? JSON.stringify(await runInTurns(account, maskingRecord(JSON.parse(text))))
    : text

/** For what the console's server reads for its pages. */
export const maskingFetch =
  (account: string) =>
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    if (!response.ok || !isJson || !containsJobConfig(pathOf(String(input)))) return response
    const headers = new Headers(response.headers)
    // The text is no longer what these speak of.
    for (const name of ['content-length', 'content-encoding']) headers.delete(name)
    return new Response(await maskResponse(await response.text(), account), { status: response.status, headers })
  }

/** From `/v1` on: the service may stand below a path of its own. */
const pathOf = (url: string): string => {
  const { pathname } = new URL(url)
  return pathname.slice(Math.max(0, pathname.indexOf('/v1/')))
}

const Reveal = z.object({
  job_id: z.string().check(z.regex(idPattern, 'must be the id of a job')),
  pointer: z.array(z.union([z.string(), z.int()])).check(z.minLength(1), z.maxLength(20)),
})

/** `POST /api/reveal {"job_id", "pointer"}`: one value of a job as the service has it, named by the fields that lead to it. */
export const revealValue = (request: Request): Promise<Response> =>
  handleRequest(request, async (requestId) => {
    const session = await requireCaller(request, 'write')
    const { data: asked, error } = Reveal.safeParse(await readJsonBody(request))
    if (!asked)
      throw new HttpError('invalid_argument', `${error.issues[0]?.path.join('.')} ${error.issues[0]?.message}`, {
        field: String(error.issues[0]?.path[0] ?? 'body'),
      })
    const { job_id, pointer } = asked
    const what = { operation: 'benchmarkJobs.reveal', subject: [job_id, ...pointer].join('/') }
    return withActivityRecord(
      actorOf(session, (name) => request.headers.get(name)),
      what,
      async () => {
        const value = valueAt(await readJob(session.api_key, job_id), pointer)
        if (value === undefined) throw new HttpError('not_found', 'The job has no such value')
        const { id } = session.account
        console.log(`Request ${requestId}: account ${id} was shown ${JSON.stringify(pointer)} of job ${job_id}`)
        return json({ value })
      },
    )
  })

const readJob = async (apiKey: string, id: string): Promise<unknown> =>
  clientFor(apiKey, 15_000)
    .benchmarkJobs.get({ params: { id } })
    .catch((error: { code?: string; status?: number }) => {
      if (error.status === 404) throw new HttpError('not_found', `There is no job ${id}`)
      throw new HttpError('unavailable', 'The service did not tell of the job')
    })

const valueAt = (record: unknown, pointer: readonly (string | number)[]): unknown =>
  pointer.reduce<unknown>(
    (found, field) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, field)
        ? (found as Record<string | number, unknown>)[field]
        : undefined,
    record,
  )

/** JSON may write the mask as it is or by its escapes. */
const writtenMasks = [Buffer.from(mask), Buffer.from('\\u2022'.repeat(mask.length))]
const longestMask = Math.max(...writtenMasks.map(({ length }) => length))

/** Passes a body on, and refuses it where a mask stands in the place of a value. */
export async function* rejectMasks(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let seen: Uint8Array = new Uint8Array()
  for await (const piece of body) {
    const both = Buffer.concat([seen, piece])
    if (writtenMasks.some((written) => both.includes(written))) throw masked('spec')
    seen = both.subarray(Math.max(0, both.length - longestMask + 1))
    yield piece
  }
}

const masked = (field: string) =>
  new HttpError(
    'invalid_argument',
    `${field} holds ${mask}, which stands for a value that is hidden: enter the value`,
    {
      field,
    },
  )

interface Config {
  name?: unknown
  model_name?: unknown
}

/** The body for a new job, the masks in it replaced by the values they hide in the job it was made from. */
export const restoreMaskedValues = async (
  body: unknown,
  { account, api_key }: KeyHolder,
  jobId: string,
): Promise<unknown> => {
  const job = (await readJob(api_key, jobId)) as {
    job_source?: { inline_yaml?: string | null } | null
    job_spec?: { agent_configs?: Config[] } | null
  }
  const spec = (body as { spec?: { inline_yaml?: unknown; agent_configs?: unknown } } | null)?.spec
  if (!spec) return body
  const filled: Record<string, unknown> = { ...spec }
  if (typeof spec.inline_yaml === 'string') {
    const known = job.job_source?.inline_yaml ?? ''
    filled.inline_yaml = unmaskYaml(spec.inline_yaml, known, await runInTurns(account.id, maskingYaml(known)))
  }
  if (Array.isArray(spec.agent_configs))
    filled.agent_configs = (spec.agent_configs as Config[]).map((agent, i) => {
      const known = job.job_spec?.agent_configs ?? []
      const isSame = (each: Config | undefined) =>
        each?.name === agent?.name && (each?.model_name ?? null) === (agent?.model_name ?? null)
      // The same agent may be there twice, with other values.
      const [same, ...others] = known.filter(isSame)
      return unmasked(agent, isSame(known[i]) || others.length > 0 ? known[i] : same, `spec.agent_configs.${i}`)
    })
  return { ...(body as object), spec: filled }
}

const unmasked = (value: unknown, known: unknown, field: string): unknown => {
  if (typeof value === 'string') {
    if (!value.includes(mask)) return value
    const isSame = typeof known === 'string' || typeof known === 'number'
    if (!isSame || !isMaskOf(value, known)) throw masked(field)
    return known
  }
  if (Array.isArray(value))
    return value.map((each, i) => unmasked(each, Array.isArray(known) ? known[i] : undefined, `${field}.${i}`))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, unmasked(each, valueAt(known, [name]), `${field}.${name}`)]),
  )
}

/** Whether the text around the masks is that of the value. */
const isMaskOf = (value: string, known: string | number): boolean => {
  const parts = value.split(mask)
  const text = String(known)
  return text.startsWith(parts[0] ?? '') && text.endsWith(parts.at(-1) ?? '')
}

/** Lines that hold a mask become the lines they were; of several that look alike, the one at the same place among them. */
const unmaskYaml = (yaml: string, known: string, shown: string): string => {
  const originals = new Map<string, string[]>()
  const lines = known.split('\n')
  for (const [i, line] of shown.split('\n').entries())
    if (line.includes(mask)) originals.set(line, [...(originals.get(line) ?? []), lines[i] ?? ''])
  const asked = yaml.split('\n')
  const counts = new Map<string, number>()
  return asked
    .map((line, i) => {
      if (!line.includes(mask)) return line
      const found = originals.get(line) ?? []
      const at = counts.get(line) ?? 0
      counts.set(line, at + 1)
      const isClear = new Set(found).size === 1 || found.length === asked.filter((each) => each === line).length
      const original = isClear ? found[Math.min(at, found.length - 1)] : undefined
      if (original === undefined)
        throw new HttpError('invalid_argument', hiddenAt(i + 1), { field: 'spec.inline_yaml' })
      return original
    })
    .join('\n')
}

const hiddenAt = (line: number) => `line ${line}: ${mask} stands for a value that is hidden: enter the value`
