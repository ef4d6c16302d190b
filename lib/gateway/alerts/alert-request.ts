import type * as z from 'zod/mini'
import type { Session } from '../accounts/types.ts'
import { HttpError } from '../http/handle-request.ts'
import type { ReadHeader } from '../http/origin.ts'
import type { AlertBook } from './alert-book.ts'

/** A request below `/api/alerts` of someone who is signed in. */
export interface AlertRequest {
  session: Session
  /** Label of the caller. */
  person: string
  header: ReadHeader
  book: AlertBook
  query: unknown
  body: unknown
  id: string
}

export type AlertAction = (request: AlertRequest) => Response | Promise<Response>

export const read = <Schema extends z.ZodMiniType>(schema: Schema, value: unknown): z.output<Schema> => {
  const { data, error } = schema.safeParse(value)
  if (data !== undefined) return data
  const { path = [], message = 'is invalid' } = error?.issues[0] ?? {}
  const field = path.join('.')
  throw new HttpError('invalid_argument', `${field} ${message}`.trim(), field === '' ? {} : { field })
}
