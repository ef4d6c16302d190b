import { pageAccountId } from '#lib/browser/api/page-account.ts'
import { browserStore, readList, saveList } from '#lib/browser/frame/saved-list.ts'
import { readTab, writeTab } from '#lib/browser/frame/tab-storage.ts'

/* Layouts of a browser tab, and for new tabs the last layout of each devbox in this browser, per account. */

interface Remembered {
  devboxId: string
  layout: string
}

const maxDevboxes = 50
const prefix = 'devdeck:terminals:'
const tabKey = (devboxId: string) => prefix + devboxId

const isRemembered = (value: unknown): value is Remembered => {
  const { devboxId, layout } = Object(value) as Record<string, unknown>
  return typeof devboxId === 'string' && typeof layout === 'string'
}

const listOf = (account: string) => readList(browserStore(), prefix + account, isRemembered)

/** Undefined if this browser hasn't shown the devbox's terminals; empty for the default layout. */
export const rememberedLayout = (devboxId: string, account = pageAccountId()): string | undefined =>
  readTab(tabKey(devboxId)) ??
  (account === undefined ? undefined : listOf(account).find((each) => each.devboxId === devboxId)?.layout)

export const rememberLayout = (devboxId: string, layout: string, account = pageAccountId()): void => {
  writeTab(tabKey(devboxId), layout)
  if (account === undefined) return
  const others = listOf(account).filter((each) => each.devboxId !== devboxId)
  saveList(browserStore(), prefix + account, [{ devboxId, layout }, ...others].slice(0, maxDevboxes))
}

/** At sign-out. Names of tabs may be private. */
export const forgetLayouts = (account?: string): void => {
  const store = browserStore()
  for (const key of Object.keys(store ?? {}))
    if (account === undefined ? key.startsWith(prefix) : key === prefix + account) store?.removeItem(key)
}
