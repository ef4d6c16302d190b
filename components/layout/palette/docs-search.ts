import { queryOptions } from '@tanstack/react-query'
import { fetchConsoleJson } from '#lib/browser/api/console-api.ts'
import type { DocSection, DocsIndex } from '#lib/protocol/docs.ts'
import { type Rank, rankOf } from './entries.ts'

export const docsQuery = () =>
  queryOptions({
    queryKey: ['docs'],
    queryFn: ({ signal }) => fetchConsoleJson<DocsIndex>('/api/docs', signal),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
  })

/** Sections whose heading matches, then those whose text does. */
export const findDocs = (sections: readonly DocSection[], query: string, limit: number): DocSection[] =>
  sections
    .map((section) => ({ section, rank: sectionRank(section, query) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, limit)
    .map(({ section }) => section)

const sectionRank = ({ heading, page_title, text }: DocSection, query: string): number => {
  const inHeading: Rank = rankOf(heading, query)
  if (inHeading > 0) return inHeading + 2
  if (rankOf(`${page_title} ${heading}`, query) > 0) return 2
  return rankOf(text, query) > 0 ? 1 : 0
}

/** The text around the first match. */
export const excerptOf = (text: string, query: string): string | undefined => {
  const at = text.toLowerCase().indexOf(query.trim().toLowerCase())
  if (at === -1) return undefined
  const from = at <= excerptLead ? 0 : text.indexOf(' ', at - excerptLead) + 1
  return `${from > 0 ? '… ' : ''}${text.slice(Math.min(from, at), at + 120)}`
}

const excerptLead = 30
