import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/frame/format.ts'

/** Longer lists are cut, and say so. */
const maxShown = 50

/** What of a job, or of the task of an outcome, is not as its author meant it. */
export const JobWarnings = ({ warnings }: { warnings: readonly string[] | null | undefined }) => {
  if (!warnings?.length) return null
  const shown = warnings.slice(0, maxShown)
  return (
    <section aria-label="Warnings" className="space-y-1">
      <h3 className="font-medium">
        {shown.length < warnings.length
          ? `Warnings, ${formatCount(shown.length)} of ${formatCount(warnings.length)}`
          : `Warnings, ${formatCount(warnings.length)}`}
      </h3>
      <ul className="list-disc space-y-0.5 pl-5 text-sm break-words">
        {shown.map((sentence) => (
          <li key={sentence}>
            <VisibleText max={500}>{sentence}</VisibleText>
          </li>
        ))}
      </ul>
    </section>
  )
}
