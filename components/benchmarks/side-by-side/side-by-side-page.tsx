'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowLeftRight, ChevronDown, ChevronUp, Columns2, SquareArrowOutUpRight } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react'
import { Keys } from '#components/layout/keys.tsx'
import { followsLeader } from '#components/layout/shortcuts.ts'
import { useAddress } from '#components/list/use-address.ts'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { hasLetterKeys } from '#components/ui/choice/browser-choice.ts'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { isTyping } from '#components/ui/is-typing.ts'
import { PageHeader } from '#components/ui/page-header.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount } from '#lib/browser/format.ts'
import { isShortcut, type ShortcutId, useShortcutKeys } from '#lib/browser/frame/shortcuts.ts'
import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { judgedBy } from '#lib/protocol/metrics.ts'
import { agentLabel } from '#lib/protocol/report-words.ts'
import { Choice } from '../choice.tsx'
import { gridScale } from '../grid/scenario-grid.ts'
import { benchmarkJobQueries } from '../job/queries.ts'
import type { AgentRow } from '../job-figures.ts'
import { attemptLogQueries } from '../logs/queries.ts'
import { useMarks } from '../marks/use-marks.ts'
import { choiceOf } from '../report-params.ts'
import { scenarioRunQueries } from '../run/queries.ts'
import { attemptsByScenario, type Disagreement, disagreementsOf } from './disagreements.ts'
import { FileDiffs } from './file-diffs.tsx'
import { OutcomePair } from './outcome-pair.tsx'
import { parseSide, SideBySideView, type SideRef, sideBySidePath, sideText } from './search-params.ts'
import type { Side } from './side.ts'
import { focusStep, TrajectoryPair } from './trajectory-pair.tsx'

const address = { schema: SideBySideView, path: sideBySidePath }

export const SideBySidePage = () => {
  const { settled, change, problems } = useAddress(address)
  const a = parseSide(settled.a ?? '')
  const b = parseSide(settled.b ?? '')
  const jobA = useQuery({ ...benchmarkJobQueries.get(a?.job ?? ''), enabled: a !== null })
  const jobB = useQuery({ ...benchmarkJobQueries.get(b?.job ?? ''), enabled: b !== null })
  const failed = [jobA, jobB].find(({ error, data }) => error && !data)
  const allJobs = <ButtonLink href={paths.benchmarkJobs()}>All jobs</ButtonLink>
  const content = () => {
    if (problems.length > 0)
      return (
        <EmptyState icon={Columns2} title="Invalid address" action={allJobs}>
          {problems.map(({ field, message }) => `${field} ${message}`).join('; ')}
        </EmptyState>
      )
    if (!a || !b)
      return (
        <EmptyState icon={Columns2} title="Nothing to compare yet" action={allJobs}>
          Open a scenario in a job's grid and choose Compare with.
        </EmptyState>
      )
    if (failed)
      return <ErrorState title="Couldn't load the jobs" error={failed.error} query={failed} action={allJobs} />
    if (!jobA.data || !jobB.data) return <SkeletonRows columns={3} label="Loading both attempts" />
    return <Compared view={settled} change={change} a={a} b={b} jobA={jobA.data} jobB={jobB.data} />
  }
  return (
    <>
      <PageHeader title="Side by side" />
      {content()}
    </>
  )
}

interface ComparedProps {
  view: SideBySideView
  change: ReturnType<typeof useAddress<SideBySideView>>['change']
  a: SideRef
  b: SideRef
  jobA: BenchmarkJob
  jobB: BenchmarkJob
}

const Compared = ({ view, change, a, b, jobA, jobB }: ComparedProps) => {
  const { failures, metric, direction, threshold, exclusions } = choiceOf(view)
  const judgedA = useMemo(() => judgedBy(jobA, metric), [jobA, metric])
  const judgedB = useMemo(() => (jobA === jobB ? judgedA : judgedBy(jobB, metric)), [jobA, jobB, judgedA, metric])
  const isApplied = exclusions !== 'ignore'
  const markedA = useMarks(judgedA, isApplied, jobB.id)
  const ofB = useMarks(judgedB, isApplied, jobA.id)
  const markedB = jobA === jobB ? markedA : ofB
  const [agentsA, agentsB] = [markedA.all, markedB.all]
  const isExcluded = useCallback(
    (outcome: ScenarioOutcome) => (markedA.marks.get(outcome) ?? markedB.marks.get(outcome))?.isExcluded ?? false,
    [markedA, markedB],
  )
  const [agentA, agentB] = [agentsA.find(({ key }) => key === a.run), agentsB.find(({ key }) => key === b.run)]
  const found = useMemo(() => {
    const scale = gridScale([...agentsA, ...agentsB], { metric, direction, threshold })
    const rules = { ...scale, rule: scale.counting[failures], isExcluded }
    return disagreementsOf(outcomesOf(agentA), outcomesOf(agentB), rules)
  }, [agentsA, agentsB, agentA, agentB, failures, metric, direction, threshold, isExcluded])
  const scenario = view.scenario ?? found[0]?.scenario_id ?? outcomesOf(agentA)[0]?.scenario_definition_id
  const at = found.findIndex(({ scenario_id }) => scenario_id === scenario)
  const chosen = found[at]
  const move = (to: Disagreement | undefined) =>
    to &&
    (() =>
      change(
        {
          scenario: to.scenario_id,
          a: sideText({ ...a, attempt: to.a }),
          b: sideText({ ...b, attempt: to.b }),
        },
        'push',
      ))
  const next = found[at + 1]
  const [onNext, onPrevious] = [move(next), move(at > 0 ? found[at - 1] : undefined)]
  const router = useRouter()
  const openScenario = () => scenario !== undefined && router.push(paths.scenario(scenario))
  useKeys({
    'compare.next-disagreement': onNext,
    'compare.previous-disagreement': onPrevious,
    'compare.open-scenario': openScenario,
    'compare.next-step': () => focusStep(1),
    'compare.previous-step': () => focusStep(-1),
  })
  usePrefetch(next, agentA, agentB)
  const missing = agentA ? (agentB ? null : jobB) : jobA
  if (!agentA || !agentB)
    return (
      <EmptyState
        icon={Columns2}
        title="No such run in this job"
        action={<ButtonLink href={paths.benchmarkJob(missing?.id ?? a.job)}>Open job</ButtonLink>}
      >
        The run may belong to another job, or the job was run again.
      </EmptyState>
    )
  if (scenario === undefined)
    return (
      <EmptyState icon={Columns2} title="No outcomes yet">
        Neither run has finished a scenario.
      </EmptyState>
    )
  const sideOf = (ref: SideRef, job: BenchmarkJob, agent: AgentRow, ofDisagreement: number | undefined): Side => {
    const attempts = attemptsByScenario(outcomesOf(agent)).get(scenario) ?? []
    const attempt = ref.attempt ?? ofDisagreement ?? 1
    const outcome = attempts[attempt - 1]
    const isOut = outcome !== undefined && isExcluded(outcome)
    return { ref, job, agent, name: agentLabel(agent), attempts, attempt, outcome, isExcluded: isOut }
  }
  const sides = [sideOf(a, jobA, agentA, chosen?.a), sideOf(b, jobB, agentB, chosen?.b)] as const
  const name = [...sides[0].attempts, ...sides[1].attempts].find(({ scenario_name }) => scenario_name.trim())
  const [runA, runB] = sides.map(({ outcome }) => outcome?.scenario_run_id ?? null)
  return (
    <div className="space-y-6">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="min-w-0 text-lg font-medium">
          <VisibleText max={200}>{name?.scenario_name ?? scenario}</VisibleText>
        </h2>
        <p role="status" className="tabular text-muted">
          {found.length === 0
            ? 'No disagreements'
            : at === -1
              ? `No disagreement here; ${formatCount(found.length)} in other scenarios`
              : `${formatCount(at + 1)} of ${formatCount(found.length)} disagreements`}
          {chosen && (chosen.onlyOnePasses ? ': only one passes' : ': scores differ')}
        </p>
        <span className="ml-auto flex flex-wrap items-center gap-2 print:hidden">
          <KeyButton
            icon={ChevronUp}
            shortcut="compare.previous-disagreement"
            onClick={onPrevious}
            none="No earlier disagreement"
          >
            Previous
          </KeyButton>
          <KeyButton
            icon={ChevronDown}
            shortcut="compare.next-disagreement"
            onClick={onNext}
            none="No later disagreement"
          >
            Next
          </KeyButton>
          <KeyButton icon={SquareArrowOutUpRight} shortcut="compare.open-scenario" onClick={openScenario} none="">
            Open scenario
          </KeyButton>
        </span>
      </div>
      <div className="flex flex-wrap items-end gap-3 print:hidden">
        <SideChoice
          label="A"
          side={sides[0]}
          agents={agentsA}
          onChange={(ref) => change({ a: sideText(ref) }, 'replace')}
        />
        <SideChoice
          label="B"
          side={sides[1]}
          agents={agentsB}
          onChange={(ref) => change({ b: sideText(ref) }, 'replace')}
        />
        <Button icon={ArrowLeftRight} onClick={() => change({ a: view.b, b: view.a }, 'replace')}>
          Swap
        </Button>
      </div>
      <OutcomePair sides={sides} />
      <TrajectoryPair key={`${runA} ${runB}`} sides={sides} />
      <FileDiffs key={`files ${runA} ${runB}`} sides={sides} />
    </div>
  )
}

const noOutcomes: readonly ScenarioOutcome[] = []
const outcomesOf = (agent: AgentRow | undefined) => agent?.outcome?.scenario_outcomes ?? noOutcomes

interface KeyButtonProps {
  icon: typeof ChevronUp
  shortcut: ShortcutId
  onClick: (() => void) | undefined
  none: string
  children: ReactNode
}

const KeyButton = ({ icon, shortcut, onClick, none, children }: KeyButtonProps) => {
  const keys = useShortcutKeys(shortcut)
  return (
    <Button
      size="sm"
      icon={icon}
      disabledReason={onClick ? null : none}
      onClick={onClick}
      aria-keyshortcuts={keys.join('+') || undefined}
    >
      {children}
      <span aria-hidden className="max-sm:hidden">
        <Keys keys={keys} />
      </span>
    </Button>
  )
}

interface SideChoiceProps {
  label: string
  side: Side
  agents: readonly AgentRow[]
  onChange: (ref: SideRef) => void
}

const SideChoice = ({ label, side, agents, onChange }: SideChoiceProps) => (
  <>
    <Choice
      label={`${label}: agent of ${side.job.name || side.job.id}`}
      value={side.ref.run}
      options={agents.map((agent) => ({ value: agent.key, label: agentLabel(agent) }))}
      onChange={(run) => onChange({ job: side.job.id, run })}
    />
    {side.attempts.length > 1 && (
      <Choice
        label={`Attempt of ${label}`}
        value={String(side.attempt)}
        options={side.attempts.map((_, at) => ({
          value: String(at + 1),
          label: `${at + 1} of ${side.attempts.length}`,
        }))}
        onChange={(attempt) => onChange({ ...side.ref, attempt: Number(attempt) })}
      />
    )}
  </>
)

/** Shortcuts of this page, except in fields, under dialogs, and as the second key of another shortcut. */
const useKeys = (actions: Partial<Record<ShortcutId, () => unknown>>) => {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || !hasLetterKeys() || followsLeader()) return
      if (isTyping(document.activeElement) || document.querySelector('[role=dialog]')) return
      const bound = Object.entries(latest.current).find(([id]) => isShortcut(id as ShortcutId, event))
      if (!bound?.[1]) return
      event.preventDefault()
      bound[1]()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/** Loads the next disagreement's trajectories and file lists in advance. */
const usePrefetch = (next: Disagreement | undefined, agentA: AgentRow | undefined, agentB: AgentRow | undefined) => {
  const client = useQueryClient()
  useEffect(() => {
    if (!next) return
    for (const [agent, attempt] of [[agentA, next.a] as const, [agentB, next.b] as const]) {
      const outcome = attemptsByScenario(outcomesOf(agent)).get(next.scenario_id)?.[attempt - 1]
      const id = outcome?.scenario_run_id
      if (id == null) continue
      void client.prefetchQuery(attemptLogQueries.list(id))
      for (const path of outcome?.trajectories ?? []) void client.prefetchQuery(scenarioRunQueries.trajectory(id, path))
    }
  }, [client, next, agentA, agentB])
}
