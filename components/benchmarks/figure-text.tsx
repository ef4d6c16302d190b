import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { threeDecimals } from '#lib/protocol/report-words.ts'
import type { AgentFigures } from '#lib/protocol/reports.ts'

/** `0.667 (n = 3)` */
export const ScoreWithN = ({ score, n, title }: { score: string; n: number | string; title?: string }) => (
  <span className="whitespace-nowrap" title={title}>
    <b className="font-semibold">{score}</b>{' '}
    <span className="text-muted">(n = {typeof n === 'number' ? formatCount(n) : n})</span>
  </span>
)

export const Missing = ({ why = 'Not available' }: { why?: string | undefined }) => (
  <span className="text-muted" title={why}>
    None
  </span>
)

export const MeanHeader = ({ metric }: { metric: string | null | undefined }) =>
  metric ? (
    <span title={`Mean ${metric}`}>
      Mean <VisibleText max={24}>{metric}</VisibleText>
    </span>
  ) : (
    'Mean score'
  )

export const signed = (value: number): string => (value > 0 ? `+${threeDecimals(value)}` : threeDecimals(value))

export const ReportNotes = ({ notes }: { notes: readonly string[] }) => (
  <section aria-label="Notes">
    <ul className="max-w-prose list-disc space-y-0.5 pl-4 text-sm text-muted">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  </section>
)

export const MeanText = ({ figures: { mean, n_scenarios, reasons } }: { figures: AgentFigures }) =>
  mean === null ? <Missing why={reasons.mean} /> : <ScoreWithN score={threeDecimals(mean)} n={n_scenarios} />

export const IntervalText = ({ figures: { ci_low, ci_high, reasons } }: { figures: AgentFigures }) =>
  ci_low === null || ci_high === null ? (
    <Missing why={reasons.ci_low} />
  ) : (
    `${threeDecimals(ci_low)} to ${threeDecimals(ci_high)}`
  )
