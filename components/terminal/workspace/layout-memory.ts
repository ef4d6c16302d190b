import { readTab, writeTab } from '#lib/browser/frame/tab-storage.ts'
import { formatLayout, parseLayout, type TerminalLayout, type TerminalTab } from '#lib/terminal/layout/layout.ts'

const storageKey = (devboxId: string) => `devdeck:terminals:${devboxId}`

/** How the terminals of a devbox were last shown in this browser tab, for links that lead back to them. */
export const rememberLayout = (devboxId: string, layout: TerminalLayout): void =>
  writeTab(storageKey(devboxId), formatLayout(layout))

/** As `formatLayout` writes it, so that it can be compared; the one terminal where nothing is kept. */
export const rememberedLayout = (devboxId: string): string =>
  formatLayout(parseLayout(readTab(storageKey(devboxId))).layout)

const maxClosed = 10
const closed = new Map<string, TerminalTab[]>()

/** Tabs that were closed since the page was loaded, to be opened again, the last one first. */
export const rememberClosed = (devboxId: string, tab: TerminalTab): void => {
  closed.set(devboxId, [tab, ...(closed.get(devboxId) ?? [])].slice(0, maxClosed))
}

/** Takes the last closed tab that `fits`. */
export const takeClosed = (devboxId: string, fits: (tab: TerminalTab) => boolean): TerminalTab | undefined => {
  const tabs = closed.get(devboxId) ?? []
  const at = tabs.findIndex(fits)
  if (at !== -1) closed.set(devboxId, tabs.toSpliced(at, 1))
  return tabs[at]
}
