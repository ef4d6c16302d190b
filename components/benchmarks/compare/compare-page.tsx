'use client'
import { useQueries, useQuery } from '@tanstack/react-query'
import { GitCompareArrows } from 'lucide-react'
import { useAddress } from '#components/list/use-address.ts'
import { Banner } from '#components/ui/banner.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount } from '#lib/browser/format.ts'
import { runNames } from '#lib/protocol/report-words.ts'
import type { CompareReport } from '#lib/protocol/reports.ts'
import { Choice, RuleChoice, ScoreChoice } from '../choice.tsx'
import { benchmarkJobQueries, compareAddress } from '../job/queries.ts'
import { ReportNotes, ReportPage, tablesOf } from '../report-page.tsx'
import { choiceOf } from '../report-params.ts'
import { ChangeTable } from './change-table.tsx'
import { DifferenceTable, RunTable } from './run-tables.tsx'
import { CompareView, comparePath, maxCompared } from './search-params.ts'

const address = { schema: CompareView, path: comparePath }

export const ComparePage = () => {
  const { view, settled, change, problems } = useAddress(address)
  const compared = {
    jobs: settled.jobs ?? '',
    baseline: settled.baseline,
    ...choiceOf(settled),
  }
  const hasJobs = compared.jobs !== ''
  const query = useQuery({ ...benchmarkJobQueries.compare(compared), enabled: hasJobs && problems.length === 0 })
  const ids = [...new Set(compared.jobs.split(',').filter(Boolean))]
  // The error's field names the missing job.
  const { field } = problemOf(query.error)
  const others = ids.filter((id) => field !== `jobs.${id}`)
  const chooseJobs = <ButtonLink href={paths.benchmarkJobs()}>Choose jobs</ButtonLink>
  return (
    <ReportPage
      title="Compare"
      name="comparison"
      icon={GitCompareArrows}
      problems={problems}
      restart={chooseJobs}
      instead={
        !hasJobs && (
          <EmptyState icon={GitCompareArrows} title="Nothing to compare yet" action={chooseJobs}>
            Select two or more jobs in the list and choose Compare. A single job compares its agents with each other.
          </EmptyState>
        )
      }
      query={query}
      url={(format, table) => compareAddress(compared, format, table)}
      tables={tablesOf(query.data)}
      loading="Comparing jobs"
      failed={{
        title: 'Could not compare the jobs',
        action: (
          <>
            {others.length > 0 && others.length < ids.length && (
              <ButtonLink href={comparePath({ ...settled, jobs: others.join(','), ...noBaseline })} variant="primary">
                {others.length === 1 ? 'Compare agents of the other job' : `Compare the other ${others.length} jobs`}
              </ButtonLink>
            )}
            <ButtonLink href={paths.benchmarkJobs()}>All jobs</ButtonLink>
          </>
        ),
      }}
    >
      {(report) => (
        <>
          <div className="flex flex-wrap items-end gap-3">
            <Choice
              label="Baseline"
              value={report.baseline}
              options={baselineOptions(report)}
              onChange={(baseline) => change({ baseline }, 'push')}
            />
            <RuleChoice rule={report.rule} onChange={(failures) => change({ failures }, 'push')} />
            <ScoreChoice report={report} threshold={settled.threshold} onChange={(part) => change(part, 'push')} />
            <JobChoice
              compared={report.jobs.map(({ id }) => id)}
              onChoose={(ids) => change({ jobs: ids.join(','), ...(report.jobs.length === 1 && noBaseline) }, 'push')}
            />
          </div>
          {(report.jobs.length > 1 || report.agents.length > 1) && <Comparability report={report} />}
          {report.verdict && (
            <Banner
              tone={report.verdict.tone}
              role="status"
              title={<VisibleText max={1200}>{report.verdict.lead}</VisibleText>}
            >
              <VisibleText max={1600}>{report.verdict.more.join(' ')}</VisibleText>
            </Banner>
          )}
          <DifferenceTable report={report} />
          {report.pairs.length > 0 && (
            <ChangeTable
              report={report}
              choice={choiceOf(settled)}
              chosen={view.change}
              onChoose={(kind) => change({ change: kind }, 'replace')}
            />
          )}
          <RunTable report={report} choice={choiceOf(settled)} />
          <YamlDiffs report={report} />
          <ReportNotes notes={report.notes} />
        </>
      )}
    </ReportPage>
  )
}

const baselineOptions = (report: CompareReport) => {
  const name = runNames(report)
  return [
    ...report.jobs.map((job) => ({
      value: job.id,
      label: report.jobs.length === 1 ? 'First agent' : `${job.name}, agent by agent`,
    })),
    ...report.agents.map((agent) => ({ value: agent.benchmark_run_id, label: name(agent) })),
  ]
}

const noBaseline = { baseline: undefined }

const JobChoice = ({ compared, onChoose }: { compared: readonly string[]; onChoose: (ids: string[]) => void }) => {
  const recent = useQuery(benchmarkJobQueries.recent())
  const others = (recent.data ?? []).filter(({ id }) => !compared.includes(id))
  if (others.length === 0 || compared.length >= maxCompared) return null
  return (
    <Choice
      label={compared.length === 1 ? 'Compare with' : 'Add job'}
      value=""
      options={[
        { value: '', label: compared.length === 1 ? 'Choose baseline' : 'Choose job' },
        ...others.map(({ id, name }) => ({ value: id, label: name || id })),
      ]}
      onChange={(id) => id && onChoose(compared.length === 1 ? [id, ...compared] : [...compared, id])}
    />
  )
}

const Comparability = ({ report }: { report: CompareReport }) => {
  const { incomparable, same, not_reported, excluded_scenarios } = report
  const isSame = incomparable.length === 0
  const alike = [...(excluded_scenarios.length === 0 ? ['Scenarios'] : []), ...same]
  return (
    <Banner
      tone={isSame ? (not_reported.length === 0 ? 'ok' : 'neutral') : 'attention'}
      role="status"
      title={isSame ? 'Same settings' : 'Different settings'}
    >
      {!isSame && <Lines lines={incomparable.map(({ text }) => text)} />}
      {isSame && <p>Same in all jobs: {alike.join(', ').toLowerCase()}.</p>}
      {not_reported.length > 0 && (
        <>
          <p>Not reported by all jobs:</p>
          <Lines lines={not_reported} />
        </>
      )}
    </Banner>
  )
}

const Lines = ({ lines }: { lines: readonly string[] }) => (
  <ul className="list-disc pl-4">
    {lines.map((line) => (
      <li key={line}>
        <VisibleText max={600}>{line}</VisibleText>
      </li>
    ))}
  </ul>
)

/** Line diffs of Harbor job files against the baseline. The server masks secrets. */
const YamlDiffs = ({ report: { jobs, agents, baseline } }: { report: CompareReport }) => {
  const baseId = agents.find(({ benchmark_run_id }) => benchmark_run_id === baseline)?.job_id ?? baseline
  const read = useQueries({ queries: jobs.length > 1 ? jobs.map(({ id }) => benchmarkJobQueries.get(id)) : [] })
  const files = read.flatMap(({ data }) => {
    const yaml = data?.job_source?.inline_yaml
    return data && yaml != null ? [{ id: data.id, name: data.name, yaml }] : []
  })
  const base = files.find(({ id }) => id === baseId)
  if (!base || files.length < 2) return null
  return (
    <section aria-label="Job files" className="space-y-3">
      <h2 className="text-lg font-medium">Job files</h2>
      {files
        .filter((file) => file !== base)
        .map(({ id, name, yaml }) => (
          <Diff key={id} title={`${base.name} to ${name}`} lines={lineDiff(base.yaml, yaml)} />
        ))}
    </section>
  )
}

const marks: Record<DiffLine['kind'], string> = { same: ' ', removed: '−', added: '+' }
const tones: Record<DiffLine['kind'], string> = {
  same: 'text-muted',
  removed: 'bg-danger-bg text-danger',
  added: 'bg-ok-bg text-ok',
}
const maxLines = 2000

const Diff = ({ title, lines }: { title: string; lines: readonly DiffLine[] }) => {
  const changed = lines.filter(({ kind }) => kind !== 'same').length
  return (
    <figure className="space-y-1">
      <figcaption>
        <VisibleText max={200} className="font-medium">
          {title}
        </VisibleText>{' '}
        <span className="text-muted">
          {changed === 0 ? 'no changes' : `${formatCount(changed)} of ${formatCount(lines.length)} lines changed`}
        </span>
      </figcaption>
      {changed > 0 && (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scroll regions must be focusable
          tabIndex={0}
          // Contains the absolutely positioned screen reader text.
          className="relative max-h-96 overflow-auto rounded-md border border-line bg-surface-1 py-2 font-mono text-sm"
        >
          {lines.slice(0, maxLines).map(({ kind, text }, index) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
              key={index}
              className={classes('px-3', tones[kind])}
            >
              <span aria-hidden>{marks[kind]} </span>
              {kind !== 'same' && <span className="sr-only">{kind}: </span>}
              <VisibleText max={2000}>{text}</VisibleText>
            </div>
          ))}
          {lines.length > maxLines && (
            <div className="px-3 text-muted">and {formatCount(lines.length - maxLines)} more lines</div>
          )}
        </pre>
      )}
    </figure>
  )
}

interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Above this many pairs of lines, a diff is one removal and one addition. */
const mostPairs = 4_000_000

export const lineDiff = (before: string, after: string): DiffLine[] => {
  const [a, b] = [before.split('\n'), after.split('\n')]
  const removed = (text = ''): DiffLine => ({ kind: 'removed', text })
  const added = (text = ''): DiffLine => ({ kind: 'added', text })
  if (before === after) return a.map((text) => ({ kind: 'same', text }))
  if (a.length * b.length > mostPairs) return [...a.map(removed), ...b.map(added)]
  const width = b.length + 1
  const longest = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => longest[i * width + j] as number
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length)
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] as string })
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(removed(a[i++]))
    else lines.push(added(b[j++]))
  return [...lines, ...a.slice(i).map(removed), ...b.slice(j).map(added)]
}
