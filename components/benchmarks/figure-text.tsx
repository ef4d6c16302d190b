import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { threeDecimals } from '#lib/protocol/report-words.ts'
import type { AgentFigures } from '#lib/protocol/reports.ts'

/** In place of a figure that cannot be computed, with the reason on hover. */
export const Missing = ({ why = 'it cannot be computed' }: { why?: string | undefined }) => (
  <span className="text-muted" title={why}>
    None
  </span>
)

/** Names the metric that scores are of; the service's own scorers have none. */
export const MeanHeader = ({ metric }: { metric: string | null | undefined }) =>
  metric ? (
    <span title={`Mean of the metric ${metric}`}>
      Mean <VisibleText max={24}>{metric}</VisibleText>
    </span>
  ) : (
    'Mean score'
  )

/** A difference, with its sign. */
export const signed = (value: number): string => (value > 0 ? `+${threeDecimals(value)}` : threeDecimals(value))

/** What the figures of a report mean that their names do not say. */
export const ReportNotes = ({ notes }: { notes: readonly string[] }) => (
  <section aria-label="What the numbers mean">
    <ul className="max-w-prose list-disc space-y-0.5 pl-4 text-sm text-muted">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  </section>
)

/** A mean with its denominator, or why there is none. */
export const MeanText = ({ figures: { mean, n_scenarios, reasons } }: { figures: AgentFigures }) =>
  mean === null ? (
    <Missing why={reasons.mean} />
  ) : (
    <span className="whitespace-nowrap">
      <b className="font-semibold">{threeDecimals(mean)}</b>{' '}
      <span className="text-muted">(n = {formatCount(n_scenarios)})</span>
    </span>
  )

export const IntervalText = ({ figures: { ci_low, ci_high, reasons } }: { figures: AgentFigures }) =>
  ci_low === null || ci_high === null ? (
    <Missing why={reasons.ci_low} />
  ) : (
    `${threeDecimals(ci_low)} to ${threeDecimals(ci_high)}`
  )
