'use client'
import { Tag } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { NameOf } from '#lib/protocol/report-words.ts'
import type { Report } from '#lib/protocol/reports.ts'
import { type AttemptMarks, isLabeled } from './attempt-marks.ts'
import { ExcludeDialog } from './exclude-dialog.tsx'

interface LabelCountsProps {
  jobId: string
  report: Pick<Report, 'labels' | 'agents'>
  name: NameOf
  marks: AttemptMarks
  onShow: (label: string) => void
}

/** How many attempts of each agent have each label. */
export const LabelCounts = ({ jobId, report: { labels, agents }, name, marks, onShow }: LabelCountsProps) => {
  const [excluding, setExcluding] = useState<string | null>(null)
  if (labels.length === 0) return null
  const labeled = (label: string) => [...marks.values()].filter((each) => isLabeled(each, label) && !each.isExcluded)
  const nameOf = (run: string) => {
    const agent = agents.find(({ benchmark_run_id }) => benchmark_run_id === run)
    return agent ? name(agent) : run
  }
  return (
    <section aria-label="Labels" className="rounded-md border border-line px-3 py-1">
      <ul className="divide-y divide-line">
        {labels.map(({ label, n_attempts, agents: counts }) => {
          const left = labeled(label).length
          return (
            <li key={label} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1">
              <Tag aria-hidden className="size-4 shrink-0 text-muted" />
              <p className="tabular min-w-0 flex-1 basis-60">
                <VisibleText max={60} className="font-medium">
                  {label}
                </VisibleText>{' '}
                {formatCountOf(n_attempts, 'attempt')}{' '}
                <span className="text-sm text-muted">
                  <VisibleText max={600}>
                    {counts
                      .map(({ benchmark_run_id, n }) => `${nameOf(benchmark_run_id)} ${formatCount(n)}`)
                      .join(', ')}
                  </VisibleText>
                </span>
              </p>
              <span className="flex gap-1 print:hidden">
                <Button size="sm" onClick={() => onShow(label)}>
                  Show<span className="sr-only"> attempts labeled {label}</span>
                </Button>
                {left > 0 && (
                  <Button size="sm" needs="/api/judgment" onClick={() => setExcluding(label)}>
                    Exclude {formatCountOf(left, 'attempt')}
                    <span className="sr-only"> labeled {label}</span>
                  </Button>
                )}
              </span>
            </li>
          )
        })}
      </ul>
      {excluding !== null && (
        <ExcludeDialog
          jobId={jobId}
          title={`Exclude the ${formatCountOf(labeled(excluding).length, 'attempt')} labeled ${excluding}`}
          scopes={[{ label: 'These attempts', items: labeled(excluding) }]}
          reason={
            excluding === 'broken task' ? 'broken_task' : excluding === 'infrastructure' ? 'infrastructure' : 'other'
          }
          onClose={() => setExcluding(null)}
        />
      )}
    </section>
  )
}
