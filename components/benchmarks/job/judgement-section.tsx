'use client'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleHelp, type LucideIcon as Icon, Scale } from 'lucide-react'
import { memo, useEffect, useRef } from 'react'
import type { HowToChange } from '#components/list/use-address.ts'
import { toneClasses } from '#components/ui/badge.tsx'
import { Chips } from '#components/ui/choice/chips.tsx'
import { classes } from '#components/ui/classes.ts'
import { InlineError } from '#components/ui/error-state.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { passRule } from '#lib/protocol/report-words.ts'
import type { FailureRule, ReportChoice, Verdict } from '#lib/protocol/reports.ts'
import { ScoreChoice } from '../choice.tsx'
import type { AgentRow } from '../job-figures.ts'
import { ReportActions, tablesOf } from '../report-actions.tsx'
import { Leaderboard } from './leaderboard.tsx'
import { PairTable } from './pair-table.tsx'
import { benchmarkJobQueries, reportAddress } from './queries.ts'
import type { JobView } from './search-params.ts'

interface JudgementSectionProps {
  job: BenchmarkJob
  agents: readonly AgentRow[]
  choice: ReportChoice
  change: (part: Partial<JobView>, how: HowToChange) => void
}

const pauseMs = 3000

/** What the outcomes come to: in words, agent by agent, and pair by pair. */
export const JudgementSection = memo(({ job, agents, choice, change }: JudgementSectionProps) => {
  const rule = choice.failures
  const report = useReport(job, choice)
  const other = useReport(job, { ...choice, failures: rule === 'zero' ? 'leave_out' : 'zero' })
  const { data } = report
  return (
    <>
      <section aria-label="Verdict">
        {data ? (
          <VerdictWords verdict={data.verdict} />
        ) : report.error ? null : (
          <p className="min-h-13 text-muted">Judging the outcomes …</p>
        )}
        {report.error && !data && <InlineError error={report.error} />}
      </section>
      <section aria-label="Agents" className="space-y-3">
        <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
          <h2 className="text-lg font-medium">Agents</h2>
          <Chips
            legend="What a failure counts"
            value={rule}
            options={ruleOptions}
            onChange={(failures) => change({ failures }, 'replace')}
          />
          {data && (
            <ScoreChoice report={data} threshold={choice.threshold} onChange={(part) => change(part, 'replace')} />
          )}
          <span className="ml-auto flex flex-wrap items-center gap-1">
            <ReportActions
              what="report"
              address={(format, table) => reportAddress(job.id, choice, format, table)}
              tables={tablesOf(data)}
              isThere={data !== undefined}
            />
          </span>
        </div>
        {agents.length === 0 ? (
          <p className="text-muted">The job reports no agents.</p>
        ) : (
          <>
            <Leaderboard agents={agents} report={data} otherFigures={other.data?.agents} rule={rule} />
            <p className="max-w-prose text-sm text-muted">
              {ruleSentences[rule]} {data && passRule(data)}
            </p>
          </>
        )}
        {data && <PairTable pairs={data.pairs} agents={data.agents} />}
      </section>
    </>
  )
})

/** The report of a job; while that goes on, of every few seconds, and once more when it has ended. */
const useReport = (job: BenchmarkJob, choice: ReportChoice) => {
  const goesOn = !hasJobEnded(job.state)
  const report = useQuery({
    ...benchmarkJobQueries.report(job.id, choice),
    refetchInterval: goesOn ? pauseMs : false,
  })
  const wentOn = useRef(goesOn)
  useEffect(() => {
    if (wentOn.current && !goesOn) void report.refetch()
    wentOn.current = goesOn
  }, [goesOn, report.refetch])
  return report
}

const icons: Record<Verdict['tone'], Icon> = {
  ok: CircleCheck,
  attention: CircleHelp,
  danger: CircleHelp,
  neutral: Scale,
}

const VerdictWords = ({ verdict: { lead, more, tone } }: { verdict: Verdict }) => {
  const Icon = icons[tone]
  return (
    <div className={classes('flex items-start gap-3 rounded-md border px-4 py-3', toneClasses[tone])}>
      <Icon aria-hidden className="mt-1 size-5 shrink-0" />
      <div className="min-w-0 space-y-0.5 text-text">
        <p className="text-xl font-medium text-pretty" role="status">
          <VisibleText>{lead}</VisibleText>
        </p>
        {more.length > 0 && (
          <p className="text-muted">
            <VisibleText>{more.join(' ')}</VisibleText>
          </p>
        )}
      </div>
    </div>
  )
}

const ruleSentences: Record<FailureRule, string> = {
  zero: 'Each mean is over the n scenarios beside it. Failures count 0, and so do timeouts and completed attempts without a score; cancelled attempts do not count. Attempts are averaged for each scenario first.',
  leave_out:
    'Each mean is over the n scenarios beside it. Failures, timeouts (scored or not) and cancelled attempts are left out. Attempts are averaged for each scenario first.',
}

const ruleOptions: { value: FailureRule; label: string }[] = [
  { value: 'zero', label: 'Failures count 0' },
  { value: 'leave_out', label: 'Failures left out' },
]
