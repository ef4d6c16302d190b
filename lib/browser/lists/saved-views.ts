import { safeNext } from '../address/paths.ts'
import { keepItems, readKept } from '../frame/kept-items.ts'

/** The address of a list under a name, in this browser alone. */
export interface SavedView {
  name: string
  href: string
}

type Store = Pick<Storage, 'getItem' | 'setItem'>

const key = 'devdeck.saved-views'
/** More than anyone chooses from. */
const maxViews = 100
export const maxViewName = 80
const maxHref = 8_000

export const readViews = (store: Pick<Store, 'getItem'> | undefined): readonly SavedView[] =>
  readKept(store, key, isView)

/** Those of the list that stands at `href`, whatever it is narrowed to. */
export const viewsOfList = (views: readonly SavedView[], href: string): SavedView[] =>
  views.filter((view) => pathOf(view.href) === pathOf(href))

/** Why a view cannot have this name, or null. */
export const nameRefusal = (views: readonly SavedView[], name: string): string | null => {
  if (name.trim() === '') return 'it needs a name'
  return views.some((view) => view.name === name.trim()) ? 'another view has this name' : null
}

/** False when the browser does not keep it; so with the others. */
export const keepView = (store: Store | undefined, { name, href }: SavedView): boolean =>
  write(store, [...readViews(store), { name: name.trim().slice(0, maxViewName), href }])

export const renameView = (store: Store | undefined, name: string, next: string): boolean =>
  write(
    store,
    readViews(store).map((view) => (view.name === name ? { ...view, name: next.trim().slice(0, maxViewName) } : view)),
  )

export const forgetView = (store: Store | undefined, name: string): boolean =>
  write(
    store,
    readViews(store).filter((view) => view.name !== name),
  )

const write = (store: Store | undefined, views: readonly SavedView[]): boolean =>
  views.length <= maxViews && keepItems(store, key, views)

const isView = (kept: unknown): kept is SavedView => {
  const { name, href } = (kept ?? {}) as Partial<SavedView>
  if (typeof name !== 'string' || name.trim() === '' || typeof href !== 'string') return false
  return href.length <= maxHref && safeNext(href) === href
}

const pathOf = (href: string): string => href.split('?')[0] ?? ''
