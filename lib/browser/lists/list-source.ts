import type {
  InfiniteData,
  QueryClient,
  QueryKey,
  UseInfiniteQueryOptions,
  UseQueryOptions,
} from '@tanstack/react-query'
import type * as z from 'zod/mini'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import type { Shown } from '../queries/list/pages.ts'
import { conditionText, withoutCondition } from './metadata-condition.ts'

/** What every list can be asked for beside its own filters. */
export interface ListView {
  metadata?: MetadataCondition[] | undefined
  starting_after?: string | undefined
}

interface ListRefresh {
  query: UseQueryOptions<number | null, Error, number | null, QueryKey>
  join: (client: QueryClient) => () => void
}

/** `…` stands for the value; a function answers null for a value that leaves nothing out. */
type FilterWords = string | ((value: string) => string | null)

/** One list: what its address says, what it asks the service for, and the words for both. */
export interface ListSource<View extends ListView, Page, Param, Row> {
  /** What a row is and what they are, in lower case: `axon`, `axons`. */
  noun: string
  nouns: string
  schema: z.ZodMiniType<View>
  path: (view: Partial<View>) => string
  /** The filters beside metadata, each in words. */
  filters: { [Name in keyof View]?: FilterWords }
  pages: (view: View) => UseInfiniteQueryOptions<Page, Error, InfiniteData<Page, Param>, QueryKey, Param>
  rowsOf: (page: Page) => readonly Row[]
  /** Whether a row matches what the view asks the service for: a service that ignores a filter returns other rows too. */
  matches?: (view: View) => (row: Row) => boolean
  /** What the page itself does to the rows that are loaded, by these parts of the view. */
  arrange?: { by: readonly (keyof View)[]; rows: (rows: readonly Row[], view: View) => readonly Row[] }
  /** Reads the rows that are shown again, in place of all pages. */
  refresh?: (view: View, shown: () => Shown<Row>) => ListRefresh
}

export interface ActiveFilter {
  text: string
  /** The same list without it. */
  hrefWithout: string
}

type Described<View extends ListView> = Pick<ListSource<View, never, never, never>, 'filters' | 'path'>

/** Each filter in words, with the address of the list without it, from the newest row on. */
export const activeFilters = <View extends ListView>(
  { filters, path }: Described<View>,
  view: View,
): ActiveFilter[] => {
  const without = (part: Partial<ListView>) => path({ ...view, starting_after: undefined, ...part })
  return [
    ...Object.entries(filters).flatMap(([name, words]) => {
      const text = wordsOf(words, view[name as keyof View])
      return text === null ? [] : [{ text, hrefWithout: without({ [name]: undefined }) }]
    }),
    ...(view.metadata ?? []).map((condition) => ({
      text: conditionText(condition),
      hrefWithout: without({ metadata: withoutCondition(view.metadata ?? [], condition) }),
    })),
  ]
}

const wordsOf = (words: FilterWords, value: unknown): string | null => {
  if (!value) return null
  return typeof words === 'function' ? words(String(value)) : words.replace('…', () => String(value))
}

/** The same list of every row, with what else its address says. */
export const withoutFilters = <View extends ListView>({ filters, path }: Described<View>, view: View): string => {
  const inForce = Object.entries(filters).filter(([name, words]) => wordsOf(words, view[name as keyof View]) !== null)
  const none = Object.fromEntries(inForce.map(([name]) => [name, undefined]))
  return path({ ...view, ...none, metadata: undefined, starting_after: undefined })
}
