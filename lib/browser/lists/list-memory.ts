import { readTab, writeTab } from '../frame/tab-storage.ts'

/** What of a list is in no address: how far it was loaded and scrolled, and what was selected. */
export interface ListMemory {
  loaded: number
  scrollY: number
  selected: string[]
}

/** More would take longer to load again than anyone waits for a reload. */
const maxLoaded = 100_000
const maxSelected = 5_000

// The entry of the history stays the same through reload and back, and is another when the same address is opened anew.
const historyEntry = (): string | undefined =>
  (globalThis as { navigation?: { currentEntry?: { key?: string } | null } }).navigation?.currentEntry?.key

/** Undefined where the browser does not tell one visit of a page from the next; then nothing is remembered. */
export const memoryKey = (address: string): string | undefined => {
  const entry = historyEntry()
  return entry && `devdeck:list:${entry}:${address}`
}

export const readMemory = (key: string | undefined): ListMemory | null => {
  if (!key) return null
  try {
    const { loaded, scrollY, selected } = JSON.parse(readTab(key) ?? 'null')
    return {
      loaded: Math.min(maxLoaded, Number(loaded) || 0),
      scrollY: Number(scrollY) || 0,
      selected: Array.isArray(selected) ? selected.filter((each) => typeof each === 'string') : [],
    }
  } catch {
    // Nothing is stored, or another program has written it.
    return null
  }
}

export const writeMemory = (key: string | undefined, { loaded, scrollY, selected }: ListMemory): void => {
  if (key) writeTab(key, JSON.stringify({ loaded, scrollY, selected: selected.slice(0, maxSelected) }))
}
