import { pageAccountId } from '#lib/browser/api/page-account.ts'
import { browserStore, readList, saveList } from '#lib/browser/frame/saved-list.ts'

/** A named address of a list: its filters, order and columns. */
export interface SavedView {
  name: string
  href: string
}

export const maxViewName = 60
const maxViews = 100

const keyOf = (account = pageAccountId() ?? '') => `devdeck:views:${account}`

const isView = (value: unknown): value is SavedView => {
  const { name, href } = Object(value) as Record<string, unknown>
  // A page of this console, whatever the storage holds.
  return typeof name === 'string' && typeof href === 'string' && /^\/(?![/\\])/.test(href)
}

export const pathOf = (href: string): string => href.split('?')[0] ?? ''

/** The views with `view` in place of one of the same list and name. */
export const withView = (views: readonly SavedView[], view: SavedView): SavedView[] => {
  const isSame = ({ name, href }: SavedView) => name === view.name && pathOf(href) === pathOf(view.href)
  return views.some(isSame) ? views.map((each) => (isSame(each) ? view : each)) : [...views, view]
}

/** Stored per account in this browser. */
export const savedViews = {
  read: (): readonly SavedView[] => readList(browserStore(), keyOf(), isView),
  /** False if the browser can't store them. */
  save: (views: readonly SavedView[]): boolean => saveList(browserStore(), keyOf(), views.slice(-maxViews)),
}
