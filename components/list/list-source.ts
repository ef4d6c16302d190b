import type { InfiniteData, QueryKey, UseInfiniteQueryOptions, UseQueryOptions } from '@tanstack/react-query'
import type { RowData } from '@tanstack/react-table'
import type * as z from 'zod/mini'
import type { Shown } from '#lib/browser/queries/list/pages.ts'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import type { Column } from './column.ts'
import { conditionText, withoutCondition } from './metadata-condition.ts'

export interface ListParams {
  metadata?: MetadataCondition[] | undefined
  starting_after?: string | undefined
  columns?: string | undefined
  /** A column ID, with a leading `-` for descending order. By default the newest come first. */
  sort?: string | undefined
}

export interface ListOptions<Page, PageParam, Row>
  extends UseInfiniteQueryOptions<Page, Error, InfiniteData<Page, PageParam>, QueryKey, PageParam> {
  rowsOf: (page: Page) => readonly Row[]
  /** Polls the rows in view in place of all loaded pages. */
  refresh?: (shown: () => Shown<Row>) => UseQueryOptions<number | null, Error, number | null, QueryKey>
}

/** `…` stands for the value. Null: this value doesn't filter. */
type FilterText = string | ((value: string) => string | null)

export interface ListSource<Params extends ListParams, ListQuery, Page, PageParam, Row extends RowData> {
  /** Lower case: `axon`, `axons`. */
  noun: string
  nouns: string
  params: z.ZodMiniType<Params>
  path: (params: Partial<Params>) => string
  /** The part of the address that the API handles. */
  queryOf: (params: Params) => ListQuery
  list: (query: ListQuery) => ListOptions<Page, PageParam, Row>
  matches?: (query: ListQuery) => (row: Row) => boolean
  /** Filters that only this page has, applied to the loaded rows. */
  arrange?: (rows: readonly Row[], params: Params) => readonly Row[]
  /** Endpoint ID, if the service may sort. */
  endpoint?: string
  /** Columns that the rows can be sorted by. */
  columns?: readonly Column<Row>[]
  filters: Readonly<Record<string, FilterText>>
}

export interface ActiveFilter {
  text: string
  hrefWithout: string
}

type Filtered<Params extends ListParams> = Pick<ListSource<Params, never, never, never, never>, 'filters' | 'path'>

export const activeFilters = <Params extends ListParams>(
  { filters, path }: Filtered<Params>,
  params: Params,
): ActiveFilter[] => {
  const without = (part: Partial<ListParams>) => path({ ...params, starting_after: undefined, ...part })
  return [
    ...Object.entries(filters).flatMap(([name, filterText]) => {
      const text = textOf(filterText, params[name as keyof Params])
      return text === null ? [] : [{ text, hrefWithout: without({ [name]: undefined }) }]
    }),
    ...(params.metadata ?? []).map((condition) => ({
      text: conditionText(condition),
      hrefWithout: without({ metadata: withoutCondition(params.metadata ?? [], condition) }),
    })),
  ]
}

const textOf = (filterText: FilterText, value: unknown): string | null => {
  if (!value) return null
  return typeof filterText === 'function' ? filterText(String(value)) : filterText.replace('…', () => String(value))
}

/** The list without filters; its columns and order stay. */
export const withoutFilters = <Params extends ListParams>(
  { filters, path }: Filtered<Params>,
  params: Params,
): string => {
  const active = Object.entries(filters).filter(([name, text]) => textOf(text, params[name as keyof Params]) !== null)
  const none = Object.fromEntries(active.map(([name]) => [name, undefined]))
  return path({ ...params, ...none, metadata: undefined, starting_after: undefined })
}
