'use client'
import { useQuery } from '@tanstack/react-query'
import type { LucideIcon } from 'lucide-react'
import {
  Bot,
  Box,
  Camera,
  Clapperboard,
  DraftingCompass,
  FileText,
  FlaskConical,
  FlaskRound,
  KeyRound,
  Layers,
  ListChecks,
  Package,
  Search,
  ShieldCheck,
  Trophy,
  Waypoints,
} from 'lucide-react'
import { type ReactNode, useDeferredValue, useEffect, useState } from 'react'
import { supportQueries } from '#components/settings/support-queries.ts'
import { cutEnd } from '#components/ui/text.ts'
import { paths } from '#lib/browser/address/paths.ts'
import type { DocSection } from '#lib/protocol/docs.ts'
import { docsQuery, excerptOf, findDocs } from './docs-search.ts'
import { findEntries, type PaletteEntry, type PaletteSection, rankOf } from './entries.ts'
import { kindOfId, maxSearched, type ResultKind, recordSearch, type SearchResult } from './record-search.ts'

/** Records come first, then pages, unless the text is how a page or an action of this page is named. */
export const searchSections = (
  sections: readonly PaletteSection[],
  query: string,
  found: PaletteSection,
  docs: readonly PaletteEntry[],
): PaletteSection[] => {
  const ranked = sections
    .filter(({ kind }) => kind !== 'recent')
    .map(({ entries, ...section }) => ({ ...section, entries: findEntries(entries, query) }))
  const isNamed = ({ kind, entries }: (typeof ranked)[number]) => (entries[0]?.rank ?? 0) >= (kind === 'page' ? 3 : 4)
  const named = ranked.filter(isNamed)
  return [
    ...named,
    ...(found.entries.length > 0 ? [found] : []),
    ...ranked.filter((section) => !named.includes(section)),
    { heading: 'Docs', entries: docs },
    { heading: 'Lists', entries: listSearches(query) },
    ...(found.entries.length > 0 ? [] : [found]),
  ].filter(({ entries, ...section }) => entries.length > 0 || 'notes' in section)
}

const listSearches = (query: string): PaletteEntry[] => {
  if (kindOfId(query) !== undefined) return []
  const search = query.slice(0, 256)
  return [
    { kind: 'devboxes', href: paths.devboxes({ search }) },
    { kind: 'axons', href: paths.axons({ search }) },
  ].map(({ kind, href }) => ({
    key: `search ${kind}`,
    label: `Search ${kind} for “${cutEnd(query, 60)}”`,
    icon: Search,
    href,
  }))
}

/** Records that match by name or id, searched once typing pauses. */
export const useResults = (query: string): PaletteSection => {
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(query), pauseMs)
    return () => clearTimeout(timer)
  }, [query])
  const { data: support } = useQuery(supportQueries.current())
  const search = recordSearch(settled, undefined, undefined, support?.operations)
  const { data } = useQuery({ ...search, enabled: settled.length >= minLength })
  const found = settled === query ? data : undefined
  const heading = 'Find'
  const kindOfQuery = kindOfId(query)
  if (query.length < minLength) return { heading, entries: [] }
  if (!found) return { heading, entries: [], notes: [kindOfQuery ? `Looking for the ${kindOfQuery}` : 'Searching'] }
  const { results, failed, partial } = found
  const isEmpty = results.length === 0 && failed.length === 0
  return {
    heading,
    entries: results.map(entryOfResult),
    notes: [
      isEmpty && (kindOfQuery ? `This account has no ${kindOfQuery} with this ID` : 'No records match'),
      partial.length > 0 && `Only the newest ${maxSearched} were searched: ${partial.map(pluralOf).join(', ')}`,
      failed.length > 0 && `Search failed, the service did not respond: ${failed.map(pluralOf).join(', ')}`,
    ].filter((note) => note !== false),
  }
}

const entryOfResult = ({ kind, id, name, href, isOfTrial }: SearchResult): PaletteEntry => ({
  key: `${kind} ${id}`,
  label: name,
  icon: resultIcons[kind],
  hint: <Kind>{isOfTrial ? 'devbox of a trial' : kind}</Kind>,
  href,
})

const maxDocs = 4

export const useDocs = (query: string): PaletteEntry[] => {
  const wanted = useDeferredValue(query)
  const { data } = useQuery({ ...docsQuery(), enabled: wanted.length >= minLength })
  if (!data || wanted.length < minLength) return []
  return findDocs(data.sections, wanted, maxDocs).map((section) => entryOfDoc(section, wanted))
}

const entryOfDoc = ({ page, page_title, anchor, heading, text }: DocSection, query: string): PaletteEntry => ({
  key: `doc ${page} ${anchor}`,
  label: heading,
  trail: anchor === '' ? undefined : [page_title],
  detail: rankOf(heading, query) > 0 ? undefined : excerptOf(text, query),
  icon: FileText,
  href: paths.doc(page, anchor),
})

const pluralOf = (kind: ResultKind) =>
  kind.endsWith('x') ? `${kind}es` : kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`

const pauseMs = 150
const minLength = 2
export const resultIcons: Record<ResultKind, LucideIcon> = {
  devbox: Box,
  axon: Waypoints,
  'benchmark job': Trophy,
  'benchmark run': ListChecks,
  benchmark: Layers,
  scenario: FlaskConical,
  'scenario run': FlaskRound,
  snapshot: Camera,
  blueprint: DraftingCompass,
  recording: Clapperboard,
  agent: Bot,
  object: Package,
  'network policy': ShieldCheck,
  secret: KeyRound,
}

export const Kind = ({ children }: { children: ReactNode }) => (
  <span className="shrink-0 text-sm text-muted">{children}</span>
)
