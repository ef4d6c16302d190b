/** Any thrown value; see `problemOf`. */
export type Problem = unknown

export interface ReadableProblem {
  message: string
  code?: string
  requestId?: string
  field?: string
  /** Earliest time to retry. */
  retryAtMs?: number
}

export const problemOf = (error: Problem): ReadableProblem => {
  const { message, code, requestId, field, retryAtMs } = Object(error) as Record<string, unknown>
  const asText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  return {
    message: asText(message) ?? (typeof error === 'string' ? error : 'Unknown error'),
    code: asText(code),
    requestId: asText(requestId),
    field: asText(field),
    retryAtMs: typeof retryAtMs === 'number' ? retryAtMs : undefined,
  }
}
