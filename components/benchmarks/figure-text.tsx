import { three } from './job/verdict.ts'

/** In place of a figure that cannot be computed, with the reason on hover. */
export const Missing = ({ why = 'it cannot be computed' }: { why?: string | undefined }) => (
  <span className="text-muted" title={why}>
    None
  </span>
)

/** A difference, with its sign. */
export const signed = (value: number): string => (value > 0 ? `+${three(value)}` : three(value))

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
