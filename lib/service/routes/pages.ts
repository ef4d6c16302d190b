import { invalid } from '#lib/service/kit/errors.ts'
import type { Page } from '#lib/service/store/table.ts'

interface PagedQuery {
  starting_after?: string | undefined
}

interface Placed {
  position(account: string, id: string): number | undefined
}

/** The part of a store that lists one kind of record, by the place of the last record already seen. */
interface Listed<Q, T> extends Placed {
  list(account: string, query: Q, before: number | undefined): Page<T>
}

/** The place of the record after which a list goes on. Throws 400 when the query names none of the account. */
export const placeBefore = (kind: string, store: Placed, account: string, { starting_after }: PagedQuery) => {
  if (starting_after === undefined) return undefined
  const place = store.position(account, starting_after)
  if (place === undefined) throw invalid({ field: 'starting_after', message: `is not the id of ${kind}` })
  return place
}

/** The answer of a list, its items under the name the wire has for them: the page after the record that the query names. */
export const listPage = <K extends string, Q, T>(
  key: K,
  what: string,
  store: Listed<Q, T>,
  account: string,
  query: Q & PagedQuery,
) => {
  const before = placeBefore(`a ${what}`, store, account, query)
  const { items, has_more, total_count } = store.list(account, query, before)
  return { [key]: items, has_more, total_count } as { [P in K]: T[] } & Omit<Page<T>, 'items'>
}

/** The list of public records: this service has none. */
export const noPublic = <K extends string>(key: K, { include_total_count }: { include_total_count: boolean }) =>
  ({ [key]: [], has_more: false, total_count: include_total_count ? 0 : null }) as { [P in K]: never[] } & Omit<
    Page<never>,
    'items'
  >

/** The fields of an update that change something: null keeps what is there, as an absent field does. */
export const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }

interface WithMetadata {
  metadataKeys(account: string): string[]
  metadataValues(account: string, key: string): string[]
}

/** The handlers that suggest metadata of one kind of record. */
export const metadataHandlers = (store: WithMetadata) => ({
  metadataKeys: ({ account }: { account: string }) => ({ keys: store.metadataKeys(account) }),
  metadataValues: ({ params: { key }, account }: { params: { key: string }; account: string }) => ({
    key,
    values: store.metadataValues(account, key),
  }),
})
