import { Banner } from '#components/ui/banner.tsx'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import type { BenchmarkJobImported, ImportedJob } from '#lib/contract/benchmark-jobs.ts'
import { WarningList } from '../job/job-warnings.tsx'

export const ImportSummary = ({ imported: { jobs, skipped } }: { imported: BenchmarkJobImported }) => {
  const known = jobs.filter(({ already_imported }) => already_imported).length
  const warnings = jobs.flatMap((job) => job.warnings.map((each) => (jobs.length > 1 ? `${job.name}: ${each}` : each)))
  const counts = [
    formatCountOf(
      jobs.reduce((sum, { n_trials }) => sum + n_trials, 0),
      'trial',
    ),
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
    warnings.length > 0 ? formatCountOf(warnings.length, 'warning') : 'no warnings',
  ]
  return (
    <>
      <Banner
        tone={warnings.length > 0 || skipped.length > 0 ? 'attention' : 'ok'}
        role="status"
        title={<SummaryTitle jobs={jobs} known={known} />}
      >
        {counts.join(', ')}
        {known > 0 && (known === jobs.length ? '; nothing was changed' : `; ${known} already imported`)}
      </Banner>
      {jobs.length > 1 && (
        <section aria-label="Jobs" className="space-y-1">
          <Scrolled className="max-h-60 overflow-auto">
            <ul className="space-y-1">
              {jobs.map(({ job_id, name, path, n_trials, already_imported }) => (
                <li key={path}>
                  <TextLink href={paths.benchmarkJob(job_id)}>
                    <VisibleText max={120}>{name}</VisibleText>
                  </TextLink>{' '}
                  <span className="tabular text-muted">
                    {formatCountOf(n_trials, 'trial')}
                    {already_imported && ', already imported'}
                  </span>
                </li>
              ))}
            </ul>
          </Scrolled>
        </section>
      )}
      <List title="Skipped" items={skipped.map(({ path, reason }) => `${path}: ${reason}`)} />
      <List title="Warnings" items={warnings} />
    </>
  )
}

const SummaryTitle = ({ jobs, known }: { jobs: ImportedJob[]; known: number }) => {
  const [first] = jobs
  if (jobs.length > 1 || !first)
    return known === jobs.length
      ? `All ${known} jobs are already imported`
      : `Imported ${formatCountOf(jobs.length - known, 'job')}`
  return (
    <>
      {known > 0 ? 'Already imported: ' : 'Imported: '}
      <VisibleText max={120}>{first.name}</VisibleText>
    </>
  )
}

const List = ({ title, items }: { title: string; items: readonly string[] }) =>
  items.length > 0 && (
    <section aria-label={title} className="space-y-1">
      <h3 className="font-medium">{title}</h3>
      <Scrolled className="max-h-60 overflow-auto">
        <WarningList warnings={items} />
      </Scrolled>
    </section>
  )
