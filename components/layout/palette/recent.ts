import { useEffect } from 'react'
import { pageAccountId } from '#lib/browser/api/page-account.ts'
import { browserStore, readList, saveList } from '#lib/browser/frame/saved-list.ts'

export interface RecentThing {
  kind: string
  id: string
  name: string
  href: string
}

/** A visited record, or the key of an action that was run from the palette. */
export type RecentItem = RecentThing | { action: string }

const maxItems = 30
const prefix = 'devdeck:recent:'
const keyOf = (account: string) => prefix + account

const isItem = (value: unknown): value is RecentItem => {
  const item = Object(value) as Record<string, unknown>
  if (typeof item.action === 'string') return true
  const isText = ['kind', 'id', 'name', 'href'].every((name) => typeof item[name] === 'string')
  // A page of this console, whatever the storage holds.
  return isText && /^\/(?![/\\])/.test(item.href as string)
}

export const withRecent = (items: readonly RecentItem[], added: RecentItem): RecentItem[] => {
  const nameOf = (item: RecentItem) => ('action' in item ? `action ${item.action}` : item.href)
  return [added, ...items.filter((item) => nameOf(item) !== nameOf(added))].slice(0, maxItems)
}

/** Stored per account in this browser, until the account signs out. */
export const recentItems = {
  read: (account = pageAccountId()): readonly RecentItem[] =>
    account === undefined ? [] : readList(browserStore(), keyOf(account), isItem),
  add: (item: RecentItem, account = pageAccountId()): void => {
    if (account !== undefined) saveList(browserStore(), keyOf(account), withRecent(recentItems.read(account), item))
  },
  clear: (account = pageAccountId()): void => {
    if (account !== undefined) browserStore()?.removeItem(keyOf(account))
  },
  clearAll: (): void => {
    const store = browserStore()
    for (const key of Object.keys(store ?? {})) if (key.startsWith(prefix)) store?.removeItem(key)
  },
}

/** Remembers the record of the page. */
export const useRecentVisit = (kind: string, record: { id: string; name?: string | null | undefined } | undefined) => {
  const { id, name } = record ?? {}
  useEffect(() => {
    if (id === undefined) return
    // The record's own page, whichever of its tabs is open.
    const segment = `/${encodeURIComponent(id)}`
    const at = location.pathname.indexOf(segment)
    if (at > 0) recentItems.add({ kind, id, name: name || id, href: location.pathname.slice(0, at) + segment })
  }, [kind, id, name])
}
