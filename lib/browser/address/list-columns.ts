import * as z from 'zod/mini'
import type { preferenceCookies } from '../frame/preferences.ts'

/** Which columns a list shows, in which order and how wide: a part of the address of its page, the same for all. */

export interface ColumnChoice {
  /** One the list names, or `metadata.env`, which shows the value of that key. */
  id: string
  /** Pixels; absent: what suits it. */
  width?: number
}

/** The columns a list can have. */
export interface ListColumns {
  /** Each with its name. The one called `name` stands first in each row and says which it is. */
  labels: Readonly<Record<string, string>>
  /** Those of a list that nobody chose columns for. */
  usual: readonly string[]
  /** Whether rows have metadata, so that its keys can be columns. */
  hasMetadata: boolean
  /** Where the browser keeps what was chosen last. */
  cookie: Extract<keyof typeof preferenceCookies, `${string}Columns`>
}

/**
 * A list query of the API, and beside it the columns that its page shows. What names no columns shows the usual ones: an
 * address may be older than the list.
 */
export const withColumns = <Shape extends z.core.$ZodShape>(query: z.ZodMiniObject<Shape>) =>
  z.object({ ...query.shape, columns: z.optional(z.string()) })

/** A view without what says how it is shown: what the service is asked for. */
export const withoutColumns = <View extends { columns?: string | undefined }>({
  columns: _columns,
  ...query
}: View): Omit<View, 'columns'> => query

const keyPrefix = 'metadata.'

export const metadataKeyOf = (id: string): string | undefined =>
  id.startsWith(keyPrefix) && id.length > keyPrefix.length ? id.slice(keyPrefix.length) : undefined
