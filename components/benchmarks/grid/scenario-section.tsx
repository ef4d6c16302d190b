'use client'
import type { UseQueryResult } from '@tanstack/react-query'
import { Grid3x3, Rows3, Search } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useCallback, useMemo, useState } from 'react'
import { FilterInput, FilterSelect } from '#components/list/filter-fields.tsx'
import type { HowToChange } from '#components/list/use-address.ts'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { Select } from '#components/ui/select.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { agentLabel } from '#lib/protocol/report-words.ts'
import { outcomeLooks, wordsOf } from '../benchmark-state.tsx'
import type { JobView, Suspicion } from '../job/search-params.ts'
import { suspicionTitles } from '../job/suspicious-list.tsx'
import type { AgentRow } from '../job-figures.ts'
import { type AttemptMarks, isLabeled } from '../marks/attempt-marks.ts'
import { choiceOf } from '../report-params.ts'
import { AttemptMark, EnvironmentMark } from './grid-cell.tsx'
import {
  adjacentOutcome,
  type GridLine,
  gridLines,
  groupingKeys,
  metadataKeyOf,
  metadataPrefix,
  outcomePlace,
} from './grid-view.ts'
import {
  type AttemptFilter,
  environmentDiffers,
  failureFilter,
  type GridScale,
  gridScale,
  type KnownScenarios,
  type ScenarioRow,
} from './scenario-grid.ts'
import { ScenarioGridTable } from './scenario-grid-table.tsx'

const OutcomeSheet = dynamic(async () => (await import('./outcome-sheet.tsx')).OutcomeSheet)
const ExcludeDialog = dynamic(async () => (await import('../marks/exclude-dialog.tsx')).ExcludeDialog)
const OutcomeTable = dynamic(async () => (await import('./outcome-table.tsx')).OutcomeTable)

interface ScenarioSectionProps {
  jobId: string
  rows: readonly ScenarioRow[]
  agents: readonly AgentRow[]
  found: Record<Suspicion, readonly ScenarioRow[]>
  known: UseQueryResult<KnownScenarios>
  view: JobView
  marks: AttemptMarks
  change: (part: Partial<JobView>, how: HowToChange) => void
}

export const ScenarioSection = (props: ScenarioSectionProps) => {
  const { jobId, rows, agents, found, known, view, marks, change } = props
  const place = useMemo(() => outcomePlace(view, rows, agents), [view, rows, agents])
  const rule = view.failures ?? 'zero'
  const { metric, direction, threshold, failure, label } = view
  const scale = useMemo(
    () => gridScale(agents, { metric, direction, threshold }),
    [agents, metric, direction, threshold],
  )
  const filter = useMemo(
    () => attemptFilter({ failure, label }, agents, scale, marks),
    [failure, label, agents, scale, marks],
  )
  const suspicious = useMemo(() => {
    const ids = view.suspicious && new Set(found[view.suspicious].map(({ id }) => id))
    return ids ? rows.filter(({ id }) => ids.has(id)) : rows
  }, [rows, found, view.suspicious])
  const lines = useLines(suspicious, view, filter)
  const shown = lines.reduce((sum, { kind }) => sum + Number(kind === 'scenario'), 0)
  const [excluding, setExcluding] = useState<ScenarioRow | null>(null)
  const openPlace = useCallback((part: Partial<JobView>) => change(part, 'replace'), [change])
  return (
    <section id={scenarioSectionId} aria-label="Scenarios" className="space-y-2">
      <h2 className="text-lg font-medium">Scenarios</h2>
      <Controls view={view} change={change} agents={agents} scale={scale} rows={rows} />
      <div className="flex flex-wrap items-center gap-x-3">
        <p role="status" className="tabular text-sm text-muted">
          Showing {formatCount(shown)} of {formatCountOf(rows.length, 'scenario')}
          {agents.length > 0 && `, ${formatCountOf(agents.length, 'agent')}`}
          {view.suspicious && `; ${suspicionTitles[view.suspicious].toLowerCase()}`}
          {view.failure !== undefined && '; one failure group'}
          {view.label !== undefined && `; labeled ${view.label}`}
          {metadataKeyOf(view.group) !== null && <MetadataStatus rows={rows} known={known} />}
        </p>
        {(view.suspicious || view.failure !== undefined || view.label !== undefined) && (
          <Button
            size="sm"
            onClick={() => change({ suspicious: undefined, failure: undefined, label: undefined }, 'push')}
          >
            Show all
          </Button>
        )}
      </div>
      {rows.length === 0 ? (
        <p className="text-muted">The job reports no scenarios.</p>
      ) : shown === 0 ? (
        <p className="py-6 text-center text-muted">
          No scenario matches.{' '}
          <Button size="sm" onClick={() => change(noFilter, 'push')}>
            Clear filters
          </Button>
        </p>
      ) : view.as === 'table' ? (
        <OutcomeTable jobId={jobId} lines={lines} agents={agents} marks={marks} filter={filter} onOpen={openPlace} />
      ) : (
        <>
          <ScenarioGridTable
            lines={lines}
            agents={agents}
            scale={scale}
            rule={rule}
            sort={view.sort}
            onSort={(sort) => change({ sort }, 'replace')}
            opened={place && { key: place.row.id, column: place.column }}
            onOpen={({ key, column }) =>
              change({ scenario: key, run: agents[column]?.key, attempt: undefined }, 'replace')
            }
            marks={marks}
            onExclude={setExcluding}
          />
          <Legend
            scale={scale}
            hasDiffering={rows.some(({ cells }) => cells.some(environmentDiffers))}
            hasExcluded={[...marks.values()].some(({ isExcluded }) => isExcluded)}
          />
        </>
      )}
      {place && (
        <OutcomeSheet
          place={place}
          jobId={jobId}
          agents={agents}
          choice={choiceOf(view)}
          marks={marks}
          moveTo={(direction) => {
            const next = adjacentOutcome(place, direction, lines, agents)
            return next ? () => change(next, 'replace') : undefined
          }}
          onAttempt={(attempt) => change({ attempt: attempt === 1 ? undefined : attempt }, 'replace')}
          onClose={() => change({ scenario: undefined, run: undefined, attempt: undefined }, 'replace')}
        />
      )}
      {excluding && (
        <ExcludeDialog
          jobId={jobId}
          title={`Exclude ${excluding.name.slice(0, 120)} for all agents`}
          scopes={[{ label: 'Scenario', items: [{ scenario_id: excluding.id, attempt_id: null }] }]}
          onClose={() => setExcluding(null)}
        />
      )}
    </section>
  )
}

export const scenarioSectionId = 'scenarios'

export const noFilter = {
  search: undefined,
  state: undefined,
  score: undefined,
  only: undefined,
  environment: undefined,
  failure: undefined,
  label: undefined,
  suspicious: undefined,
}

/** Accepts the attempts of the failure group and label in the address. Excluded ones are in no failure group. */
const attemptFilter = (
  { failure, label }: Pick<JobView, 'failure' | 'label'>,
  agents: readonly AgentRow[],
  scale: GridScale,
  marks: AttemptMarks,
): AttemptFilter | undefined => {
  if (failure === undefined && label === undefined) return undefined
  const hasFailed = failure === undefined ? null : failureFilter(agents, failure, scale)
  return (outcome, agent) => {
    const mark = marks.get(outcome)
    return (
      (hasFailed === null || (!mark?.isExcluded && hasFailed(outcome, agent))) &&
      (label === undefined || (mark !== undefined && isLabeled(mark, label)))
    )
  }
}

const MetadataStatus = ({ rows, known: query }: Pick<ScenarioSectionProps, 'rows' | 'known'>) => {
  if (query.error) return `; couldn't load metadata: ${query.error.message}`
  if (!query.data) return '; loading metadata…'
  const missing = rows.filter(({ metadata }) => metadata === null).length
  return missing > 0 && `; metadata unknown for ${formatCount(missing)} deleted scenarios`
}

const useLines = (rows: readonly ScenarioRow[], view: JobView, filter: AttemptFilter | undefined): GridLine[] => {
  const { failures, search, state, score, only, environment, sort, group } = view
  return useMemo(
    () => gridLines(rows, { failures, search, state, score, only, environment, sort, group }, filter),
    [rows, failures, search, state, score, only, environment, sort, group, filter],
  )
}

const orders = [
  { value: '', label: 'Disagreement first' },
  { value: 'name', label: 'By name' },
  { value: 'hardest', label: 'Hardest first' },
  { value: 'easiest', label: 'Easiest first' },
  { value: 'slowest', label: 'Slowest first' },
]

const scoreLabels = ({ is_unit_range, threshold, lower_is_better }: GridScale) => ({
  pass:
    threshold === null
      ? 'Passes (needs a threshold)'
      : is_unit_range && threshold === 1
        ? 'Score 1'
        : `${threshold} or ${lower_is_better ? 'less' : 'more'}`,
  partial:
    is_unit_range && threshold === 1
      ? 'Between 0 and 1'
      : threshold === null
        ? 'Other than 0'
        : `${lower_is_better ? 'Higher' : 'Lower'}, but not 0`,
  zero: 'Score 0',
  none: 'No score',
})

interface ControlsProps extends Omit<ScenarioSectionProps, 'jobId' | 'found' | 'known' | 'marks'> {
  scale: GridScale
}

const Controls = ({ view, change, agents, scale, rows }: ControlsProps) => {
  const hasDiffering = view.environment !== undefined || rows.some(({ cells }) => cells.some(environmentDiffers))
  const keys = useMemo(() => groupingKeys(rows), [rows])
  const chosenKey = metadataKeyOf(view.group)
  const groupKeys = chosenKey === null || keys.includes(chosenKey) ? keys : [chosenKey, ...keys]
  const byAgent = /^-?a(\d+)$/.exec(view.sort ?? '')
  const agent = byAgent && agents[Number(byAgent[1])]
  return (
    <search className="flex flex-wrap items-center gap-2">
      <FilterInput
        data-filter-input
        icon={Search}
        type="search"
        label="Search scenarios"
        className="w-full sm:w-44"
        value={view.search}
        onFilter={(search) => change({ search }, 'type')}
      />
      <FilterSelect
        label="State"
        any="Any state"
        value={view.state}
        words={{ ...wordsOf(outcomeLooks), none: 'No outcome yet' }}
        onFilter={(state) => change({ state }, 'push')}
      />
      <FilterSelect
        label="Score"
        any="Any score"
        value={view.score}
        words={scoreLabels(scale)}
        onFilter={(score) => change({ score }, 'push')}
      />
      <Select
        aria-label="Order"
        className="w-42 max-sm:flex-1 max-sm:basis-32"
        value={view.sort ?? ''}
        onChange={({ target }) => change({ sort: target.value || undefined }, 'replace')}
        options={agent && view.sort ? [...orders, { value: view.sort, label: `By ${agentLabel(agent)}` }] : orders}
      />
      <Select
        aria-label="Groups"
        className="w-36 max-sm:flex-1 max-sm:basis-32"
        value={chosenKey === null ? (view.group ?? '') : `${metadataPrefix}${chosenKey}`}
        onChange={({ target }) => change({ group: target.value || undefined }, 'replace')}
        options={[
          { value: '', label: 'No groups' },
          { value: 'prefix', label: 'By name prefix' },
          ...groupKeys.map((key) => ({ value: `${metadataPrefix}${key}`, label: `By ${key.slice(0, longestKey)}` })),
        ]}
      />
      {hasDiffering && (
        <FilterSelect
          label="Environment"
          any="Any environment"
          value={view.environment}
          words={{ differs: 'Environment differs', same: 'As required' }}
          onFilter={(environment) => change({ environment }, 'push')}
        />
      )}
      <Check
        label="Only disagreeing"
        checked={view.only === 'disagreeing'}
        onCheck={(isOn) => change({ only: isOn ? 'disagreeing' : undefined }, 'push')}
      />
      <Button
        variant="ghost"
        className="ml-auto"
        icon={view.as === 'table' ? Grid3x3 : Rows3}
        onClick={() => change({ as: view.as === 'table' ? undefined : 'table' }, 'replace')}
      >
        {view.as === 'table' ? 'Show as grid' : 'Show as table'}
      </Button>
    </search>
  )
}

const longestKey = 60

const formatEnd = (score: number) => `${Number(score.toPrecision(4))}`

const marks = (low: number, high: number): [label: string, state: string, score?: number][] => [
  [`score ${formatEnd(high)}`, 'COMPLETED', high],
  ['between', 'COMPLETED', (low + high) / 2],
  [`score ${formatEnd(low)}`, 'COMPLETED', low],
  ['exception', 'FAILED'],
  ['timed out', 'TIMEOUT'],
  ['canceled', 'CANCELED'],
  ['no score', 'COMPLETED'],
]

const Legend = ({
  scale: { low, high, lower_is_better },
  hasDiffering,
  hasExcluded,
}: {
  scale: GridScale
  hasDiffering: boolean
  hasExcluded: boolean
}) => (
  <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
    <span className="inline-flex items-center gap-1.5">
      Score {formatEnd(low)}
      <span
        aria-hidden
        className="h-2.5 w-24 forced-color-adjust-none rounded-[2px] border border-line bg-[linear-gradient(to_right_in_oklch,var(--score-low),var(--score-high))]"
      />
      {formatEnd(high)}
    </span>
    <span>One mark per attempt:</span>
    {marks(low, high).map(([label, state, score]) => (
      <span key={label} className="inline-flex items-center gap-1.5">
        <AttemptMark attempt={{ state, score }} scale={{ low, high, lower_is_better }} />
        {label}
      </span>
    ))}
    <span>– not counted</span>
    {hasExcluded && (
      <span className="inline-flex items-center gap-1.5">
        <AttemptMark attempt={{ state: 'COMPLETED' }} isExcluded />
        excluded
      </span>
    )}
    {hasDiffering && (
      <span className="inline-flex items-center gap-1.5">
        <EnvironmentMark />
        environment differs
      </span>
    )}
  </p>
)
