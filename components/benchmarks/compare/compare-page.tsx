'use client'
import { useQueries, useQuery } from '@tanstack/react-query'
import { GitCompareArrows } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useAddress } from '#components/list/use-address.ts'
import { Banner } from '#components/ui/banner.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { runNames } from '#lib/protocol/report-words.ts'
import type { CompareReport } from '#lib/protocol/reports.ts'
import { Choice, RuleChoice, ScoreChoice } from '../choice.tsx'
import { groupingKeys } from '../grid/grid-view.ts'
import type { KnownScenarios } from '../grid/scenario-grid.ts'
import { GroupSection } from '../groups/group-section.tsx'
import { benchmarkJobQueries, compareAddress } from '../job/queries.ts'
import { scenarioIdsOf } from '../job-figures.ts'
import { ExclusionStrip } from '../marks/exclusion-strip.tsx'
import { ReportNotes, ReportPage, tablesOf } from '../report-page.tsx'
import { choiceOf } from '../report-params.ts'
import { ChangeTable } from './change-table.tsx'
import { DiffView } from './diff-view.tsx'
import { GateBanner, GateChoice } from './gate.tsx'
import { lineDiff } from './line-diff.ts'
import { DifferenceTable, RunTable } from './run-tables.tsx'
import { CompareView, comparePath, maxCompared } from './search-params.ts'

const ScoreAgainstCost = dynamic(async () => (await import('../cost/score-against-cost.tsx')).ScoreAgainstCost)

const address = { schema: CompareView, path: comparePath }

export const ComparePage = () => {
  const { view, settled, change, problems } = useAddress(address)
  const compared = {
    jobs: settled.jobs ?? '',
    baseline: settled.baseline,
    ...choiceOf(settled),
    group: settled.group,
    gate: settled.gate,
    margin: settled.margin,
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
      shared={{ kind: 'comparison' }}
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
        title: "Couldn't compare the jobs",
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
            <ScoreChoice report={report} choice={choiceOf(settled)} onChange={(part) => change(part, 'push')} />
            <GateChoice gate={settled.gate} margin={settled.margin} onChange={(part) => change(part, 'push')} />
            <JobChoice
              compared={report.jobs.map(({ id }) => id)}
              onChoose={(ids) => change({ jobs: ids.join(','), ...(report.jobs.length === 1 && noBaseline) }, 'push')}
            />
          </div>
          {(report.jobs.length > 1 || report.agents.length > 1) && <Comparability report={report} />}
          {report.gate && <GateBanner gate={report.gate} />}
          {report.verdict && (
            <Banner
              tone={report.verdict.tone}
              role="status"
              title={<VisibleText max={1200}>{report.verdict.lead}</VisibleText>}
            >
              <VisibleText max={1600}>{report.verdict.more.join(' ')}</VisibleText>
            </Banner>
          )}
          <ExclusionStrip report={report} name={runNames(report)} onChange={(part) => change(part, 'replace')} />
          <DifferenceTable report={report} choice={choiceOf(settled)} />
          {report.pairs.length > 0 && (
            <ChangeTable
              report={report}
              choice={choiceOf(settled)}
              chosen={view.change}
              onChoose={(kind) => change({ change: kind }, 'replace')}
            />
          )}
          <RunTable report={report} choice={choiceOf(settled)} />
          <Groups report={report} chosen={view.group} onChoose={(group) => change({ group }, 'replace')} />
          <ScoreAgainstCost report={report} name={runNames(report)} />
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

interface GroupsProps {
  report: CompareReport
  chosen: string | undefined
  onChoose: (key: string | undefined) => void
}

const Groups = ({ report, ...choice }: GroupsProps) => {
  const jobs = useQueries({ queries: report.jobs.map(({ id }) => benchmarkJobQueries.get(id)) })
  const known = useQueries({
    queries: jobs.flatMap(({ data }) =>
      data === undefined ? [] : [benchmarkJobQueries.scenarios(data.id, scenarioIdsOf(data))],
    ),
  })
  const scenarios = Object.assign({}, ...known.map(({ data }) => data)) as KnownScenarios
  return (
    <GroupSection report={report} name={runNames(report)} keys={groupingKeys(Object.values(scenarios))} {...choice} />
  )
}

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
          <DiffView key={id} title={`${base.name} to ${name}`} lines={lineDiff(base.yaml, yaml)} />
        ))}
    </section>
  )
}
