import { invalid } from '#lib/service/kit/errors.ts'
import type { Page } from '#lib/service/store/table.ts'

type PagedQuery = { starting_after?: string | undefined }

interface HasPosition {
  position(account: string, id: string): number | undefined
}

interface Listed<Q, T> extends HasPosition {
  list(account: string, query: Q, before: number | undefined): Page<T>
}

export const cursorPosition = (kind: string, store: HasPosition, account: string, { starting_after }: PagedQuery) => {
  if (starting_after === undefined) return undefined
  const position = store.position(account, starting_after)
  if (position === undefined) throw invalid({ field: 'starting_after', message: `is not the ID of ${kind}` })
  return position
}

export const listPage = <K extends string, Q, T>(
  key: K,
  what: string,
  store: Listed<Q, T>,
  account: string,
  query: Q & PagedQuery,
) => {
  const before = cursorPosition(`a ${what}`, store, account, query)
  const { items, has_more, total_count } = store.list(account, query, before)
  return { [key]: items, has_more, total_count } as { [P in K]: T[] } & Omit<Page<T>, 'items'>
}

export const noPublic = <K extends string>(key: K, { include_total_count }: { include_total_count: boolean }) =>
  ({ [key]: [], has_more: false, total_count: include_total_count ? 0 : null }) as { [P in K]: never[] } & Omit<
    Page<never>,
    'items'
  >

export const withoutNull = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }

interface WithMetadata {
  metadataKeys(account: string): string[]
  metadataValues(account: string, key: string): string[]
}

export const metadataHandlers = (store: WithMetadata) => ({
  metadataKeys: ({ account }: { account: string }) => ({ keys: store.metadataKeys(account) }),
  metadataValues: ({ params: { key }, account }: { params: { key: string }; account: string }) => ({
    key,
    values: store.metadataValues(account, key),
  }),
})
