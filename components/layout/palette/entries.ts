import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

export interface PaletteEntry {
  /** Unique in the palette, and the same each time it opens. */
  key: string
  label: string
  icon?: LucideIcon | undefined
  hint?: ReactNode
  /** Also found by these words. */
  keywords?: string
  /** Shown below the label. */
  detail?: string | undefined
  /** Labels of the pages that lead to it. */
  trail?: readonly string[]
  disabledReason?: string | null | undefined
  run?: (() => void) | undefined
  href?: string | undefined
  /** Opens a page of the palette. */
  items?: readonly PaletteEntry[] | undefined
}

/** Entries under a heading, and what to say below them. */
export interface PaletteSection {
  heading: string
  kind?: 'recent' | 'page'
  entries: readonly PaletteEntry[]
  notes?: readonly string[]
}

/** 4: the whole text, 3: its start, 2: the start of a word, 1: all words somewhere, 0: no match. */
export type Rank = 0 | 1 | 2 | 3 | 4

export const rankOf = (text: string, query: string): Rank => {
  const [inText, wanted] = [text.toLowerCase(), query.trim().toLowerCase()]
  if (wanted === '' || inText === wanted) return 4
  if (inText.startsWith(wanted)) return 3
  const at = inText.indexOf(wanted)
  if (at !== -1) {
    const startsWord = new RegExp(`(?<![\\p{L}\\p{N}])${wanted.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`, 'u')
    return startsWord.test(inText) ? 2 : 1
  }
  return wanted.split(/\s+/).every((word) => inText.includes(word)) ? 1 : 0
}

/** The entries and those of their pages that match, best first. */
export const findEntries = (entries: readonly PaletteEntry[], query: string): (PaletteEntry & { rank: Rank })[] =>
  leavesOf(entries)
    .map((entry) => ({ ...entry, rank: entryRank(entry, query) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)

const entryRank = ({ label, trail = [], keywords = '' }: PaletteEntry, query: string): Rank => {
  const own = rankOf(label, query)
  if (own > 0) return own
  // Part of the text must be its own: what only its page matches is found by the page.
  const ownText = `${label} ${keywords}`
  const isOwn = query.split(/\s+/).some((word) => word !== '' && rankOf(ownText, word) > 0)
  return isOwn && rankOf([...trail, ownText].join(' '), query) > 0 ? 1 : 0
}

/** Each entry followed by what its page holds. */
const leavesOf = (entries: readonly PaletteEntry[], trail: readonly string[] = []): PaletteEntry[] =>
  entries.flatMap((entry) => [
    trail.length > 0 ? { ...entry, trail } : entry,
    ...(entry.items ? leavesOf(entry.items, [...trail, entry.label]) : []),
  ])
