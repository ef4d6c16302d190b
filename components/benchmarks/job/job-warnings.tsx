import { TriangleAlert } from 'lucide-react'
import { toneClasses } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { AgentRow } from '../job-figures.ts'

const maxShown = 50

type Warnings = readonly string[] | null | undefined

interface JobWarningsProps {
  warnings: Warnings
  agents: readonly AgentRow[]
  onShow: () => void
}

export const JobWarnings = ({ warnings, agents, onShow }: JobWarningsProps) => {
  const outcomes = agents.flatMap(({ outcome }) => outcome?.scenario_outcomes ?? [])
  const differing = outcomes.filter(({ environment_differs }) => environment_differs).length
  const count = warnings?.length ?? 0
  if (count === 0 && differing === 0) return null
  return (
    <section
      aria-label="Warnings"
      className={classes('flex items-start gap-2.5 rounded-md border px-3 py-1', toneClasses.attention)}
    >
      <TriangleAlert aria-hidden className="mt-2 size-4 shrink-0" />
      <div className="min-w-0 flex-1 text-text">
        <div className="flex flex-wrap items-center justify-between gap-x-4">
          {differing > 0 && (
            <p className="tabular py-1.5">
              The environment differs from the task's requirements in {formatCount(differing)} of{' '}
              {formatCount(outcomes.length)} outcomes; their scores may not be comparable.
            </p>
          )}
          {differing > 0 && (
            <Button size="sm" onClick={onShow}>
              Show in grid
            </Button>
          )}
        </div>
        {count > 0 && (
          <details>
            <summary className="w-fit py-1.5 font-medium">{formatCountOf(count, 'warning')}</summary>
            <WarningList warnings={warnings ?? []} />
          </details>
        )}
      </div>
    </section>
  )
}

export const OutcomeWarnings = ({ warnings }: { warnings: Warnings }) =>
  warnings?.length ? (
    <section aria-label="Warnings" className="space-y-1">
      <h3 className="font-medium">Warnings ({formatCount(warnings.length)})</h3>
      <WarningList warnings={warnings} />
    </section>
  ) : null

export const WarningList = ({ warnings }: { warnings: readonly string[] }) => {
  const shown = warnings.slice(0, maxShown)
  return (
    <ul className="list-disc space-y-0.5 pb-1 pl-5 text-sm break-words">
      {shown.map((sentence) => (
        <li key={sentence}>
          <VisibleText max={500}>{sentence}</VisibleText>
        </li>
      ))}
      {shown.length < warnings.length && (
        <li className="text-muted">
          Showing {formatCount(shown.length)} of {formatCount(warnings.length)}
        </li>
      )}
    </ul>
  )
}
