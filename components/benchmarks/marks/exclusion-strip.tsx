'use client'
import { useMutation, useQueries } from '@tanstack/react-query'
import { Ban } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { type Exclusion, reasonLabels } from '#lib/protocol/marks.ts'
import { exclusionScope, type NameOf } from '#lib/protocol/report-words.ts'
import type { AgentIdentity, ExclusionReport, ReportChoice } from '#lib/protocol/reports.ts'
import { markMutations, markQueries } from './queries.ts'

interface ExclusionStripProps {
  report: { agents: readonly AgentIdentity[]; exclusions: ExclusionReport<unknown> | null }
  name: NameOf
  onChange: (part: Pick<ReportChoice, 'exclusions'>) => void
}

/** What is excluded from the figures of a report, by whom and why, with undo. */
export const ExclusionStrip = ({ report, name, onChange }: ExclusionStripProps) => {
  const [isOpen, setIsOpen] = useState(false)
  if (report.exclusions === null) return null
  const { items, applied, rule, without } = report.exclusions
  return (
    <section aria-label="Exclusions" className="space-y-2 rounded-md border border-line px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Ban aria-hidden className="size-4 shrink-0 text-muted" />
        <p role="status" className="tabular min-w-0 flex-1 basis-60">
          {excludedText(items)} {applied ? 'excluded from the figures.' : 'excluded, but counted in the figures shown.'}
        </p>
        <span className="flex gap-1 print:hidden">
          <Button size="sm" onClick={() => onChange({ exclusions: applied ? 'ignore' : undefined })}>
            {applied ? 'Count them' : 'Leave them out'}
          </Button>
          <Button size="sm" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? 'Hide' : 'Show'}
          </Button>
        </span>
      </div>
      <div hidden={!isOpen} className="space-y-2 print:block">
        <p className="max-w-prose text-sm text-muted">{rule}</p>
        {without?.verdict && (
          <p className="max-w-prose text-sm">
            <span className="text-muted">With them:</span> <VisibleText max={1200}>{without.verdict.lead}</VisibleText>
          </p>
        )}
        <ul aria-label="Excluded" className="divide-y divide-line border-t border-line">
          {items.map((item) => (
            <Item
              key={item.id}
              item={item}
              scope={
                <>
                  {exclusionScope(item, report.agents, name)}
                  {item.n_attempts === 0
                    ? item.attempt_id === null && ', no attempts here'
                    : item.attempt_id === null && `, ${formatCountOf(item.n_attempts, 'attempt')}`}
                </>
              }
            />
          ))}
        </ul>
        {isOpen && <History jobIds={[...new Set(items.map(({ job_id }) => job_id))]} />}
      </div>
    </section>
  )
}

const excludedText = (items: readonly Exclusion[]): string => {
  const scenarios = new Set(items.flatMap((each) => (each.attempt_id === null ? [each.scenario_id] : []))).size
  const attempts = items.filter(({ attempt_id }) => attempt_id !== null).length
  return [
    ...(scenarios > 0 ? [formatCountOf(scenarios, 'scenario')] : []),
    ...(attempts > 0 ? [formatCountOf(attempts, 'attempt')] : []),
  ].join(' and ')
}

const Item = ({ item, scope }: { item: Exclusion; scope: ReactNode }) => (
  <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
    <div className="min-w-0 flex-1 basis-60">
      <p>
        <VisibleText max={200} className="font-medium">
          {item.scenario_name}
        </VisibleText>{' '}
        <span className="text-sm text-muted">{scope}</span>
      </p>
      <ExclusionText exclusion={item} />
    </div>
    <RestoreButton exclusion={item} />
  </li>
)

export const ExclusionText = ({ exclusion: { reason, note, by, at_ms } }: { exclusion: Exclusion }) => (
  <p className="text-sm text-muted">
    <Badge tone="neutral">{reasonLabels[reason]}</Badge> by <VisibleText max={80}>{by}</VisibleText>,{' '}
    <RelativeTime ms={at_ms} />
    {note && ': '}
    {note && <VisibleText max={1000}>{note}</VisibleText>}
  </p>
)

export const RestoreButton = ({ exclusion: { id, scenario_name } }: { exclusion: Exclusion }) => {
  const restore = useMutation(markMutations.restore())
  return (
    <Button
      size="sm"
      className="print:hidden"
      needs="/api/judgment"
      busy={restore.isPending}
      onClick={() => restore.mutate(id, { onError: toast.failed("Couldn't include it again") })}
    >
      Include again
      <span className="sr-only">
        {' '}
        <VisibleText max={80}>{scenario_name}</VisibleText>
      </span>
    </Button>
  )
}

const History = ({ jobIds }: { jobIds: readonly string[] }) => {
  const removed = useQueries({ queries: jobIds.map(markQueries.exclusions) })
    .flatMap(({ data }) => data?.history ?? [])
    .sort((a, b) => b.removed_at_ms - a.removed_at_ms)
  if (removed.length === 0) return null
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-muted">{formatCountOf(removed.length, 'exclusion')} removed</summary>
      <ul className="mt-1 space-y-0.5 text-muted">
        {removed.map((each) => (
          <li key={each.id}>
            <VisibleText max={200}>{each.scenario_name}</VisibleText>: excluded by{' '}
            <VisibleText max={80}>{each.by}</VisibleText> <RelativeTime ms={each.at_ms} /> (
            {reasonLabels[each.reason].toLowerCase()}), included again by{' '}
            <VisibleText max={80}>{each.removed_by}</VisibleText> <RelativeTime ms={each.removed_at_ms} />
          </li>
        ))}
      </ul>
    </details>
  )
}
