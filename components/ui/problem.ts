/** Anything thrown. What can be told about it is read by `problemOf`. */
export type Problem = unknown

export interface ReadableProblem {
  message: string
  code?: string
  requestId?: string
  field?: string
  /** Before that nobody is to try again. */
  retryAtMs?: number
}

/** Message, code, request id, field and time of the next try of a thrown value, whatever class it is of. */
export const problemOf = (error: Problem): ReadableProblem => {
  const { message, code, requestId, field, retryAtMs } = Object(error) as Record<string, unknown>
  const asText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  return {
    message: asText(message) ?? (typeof error === 'string' ? error : 'Something failed without saying why'),
    code: asText(code),
    requestId: asText(requestId),
    field: asText(field),
    retryAtMs: typeof retryAtMs === 'number' ? retryAtMs : undefined,
  }
}
