import type { Endpoint } from '#lib/contract/endpoint.ts'

/** Throws when `json` is not exactly what the endpoint promises: a wrong type, or a field the contract does not know. */
export const checkAnswer = (endpoint: Endpoint, json: string) => {
  if (!('schema' in endpoint.response)) return
  const answer: unknown = JSON.parse(json)
  const parsed = endpoint.response.schema.safeParse(answer)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new Error(
      `The answer of ${endpoint.id} breaks the contract at ${issue?.path.join('.') || 'its root'}: ${issue?.message}`,
    )
  }
  const stray = strayField(answer, parsed.data, '')
  if (stray !== undefined)
    throw new Error(`The answer of ${endpoint.id} has a field the contract does not know: ${stray}`)
}

/** Schemas drop fields they do not name: the first field of `given` that is missing in `kept`. */
const strayField = (given: unknown, kept: unknown, path: string): string | undefined => {
  if (typeof given !== 'object' || given === null || typeof kept !== 'object' || kept === null) return undefined
  for (const [key, value] of Object.entries(given)) {
    const at = path === '' ? key : `${path}.${key}`
    if (!Object.hasOwn(kept, key)) return at
    const deeper = strayField(value, (kept as Record<string, unknown>)[key], at)
    if (deeper !== undefined) return deeper
  }
  return undefined
}
