import { readTab, writeTab } from '#lib/browser/frame/tab-storage.ts'
import { formatLayout, parseLayout, type TerminalLayout, type TerminalTab } from '#lib/terminal/layout/layout.ts'

const storageKey = (devboxId: string) => `devdeck:terminals:${devboxId}`

/** Remembers the layout in this browser tab for links back to the terminals. */
export const rememberLayout = (devboxId: string, layout: TerminalLayout): void =>
  writeTab(storageKey(devboxId), formatLayout(layout))

export const rememberedLayout = (devboxId: string): string =>
  formatLayout(parseLayout(readTab(storageKey(devboxId))).layout)

const maxClosed = 10
const closed = new Map<string, TerminalTab[]>()

/** Tabs closed since the page loaded, latest first. */
export const rememberClosed = (devboxId: string, tab: TerminalTab): void => {
  closed.set(devboxId, [tab, ...(closed.get(devboxId) ?? [])].slice(0, maxClosed))
}

/** Removes and returns the last closed tab for which `fits` is true. */
export const takeClosed = (devboxId: string, fits: (tab: TerminalTab) => boolean): TerminalTab | undefined => {
  const tabs = closed.get(devboxId) ?? []
  const at = tabs.findIndex(fits)
  if (at !== -1) closed.set(devboxId, tabs.toSpliced(at, 1))
  return tabs[at]
}
