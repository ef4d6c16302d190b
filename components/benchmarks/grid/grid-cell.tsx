import { memo } from 'react'
import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { rewardsOf } from '#lib/protocol/metrics.ts'
import { metricText, truncate } from '#lib/protocol/report-words.ts'
import type { FailureRule } from '#lib/protocol/reports.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'
import { passes } from '#lib/statistics/tallies.ts'
import { outcomeLook } from '../benchmark-state.tsx'
import { formatScore } from '../job-figures.ts'
import type { AttemptMarks } from '../marks/attempt-marks.ts'
import { environmentDiffers, type GridCell, type GridScale } from './scenario-grid.ts'

const maxMarks = 6

interface CellViewProps {
  cell: GridCell
  scale: GridScale
  rule: FailureRule
  column: number
  isFocused: boolean
  isOpen: boolean
  marks: AttemptMarks
}

/** Score and attempts of one agent at one scenario, readable without color. */
export const CellView = memo(({ cell, scale, rule, column, isFocused, isOpen, marks }: CellViewProps) => {
  const { attempts, repeats, isExcluded } = cell
  const score = cell.score[rule]
  const [only] = attempts
  const isSingleState = attempts.length === 1 && only?.state !== 'COMPLETED'
  return (
    <td
      aria-colindex={column + 2}
      data-column={column}
      title={rewardsTitle(attempts)}
      tabIndex={isFocused ? 0 : -1}
      style={score === null ? undefined : ({ '--score': qualityOf(score, scale) } as React.CSSProperties)}
      className={classes(
        'relative h-9 cursor-pointer overflow-hidden border-b border-l border-line px-2 whitespace-nowrap -outline-offset-2',
        score !== null && !isExcluded && 'bg-[color-mix(in_oklch,var(--score-high)_var(--score),var(--score-low))]',
        isOpen && 'shadow-[inset_0_0_0_2px_var(--accent)]',
      )}
    >
      <span className="sr-only">{cellLabel(cell, rule, scale, marks)}</span>
      <span aria-hidden className="flex items-center gap-1.5">
        <span
          className={classes(
            'tabular shrink-0',
            !isSingleState && 'min-w-8.5',
            (score === null || isExcluded) && 'text-muted',
            isExcluded && 'line-through',
          )}
        >
          {score === null ? '–' : scoreText(score, scale)}
        </span>
        {attempts.length > maxMarks ? (
          <span className="tabular text-xs">
            {scale.threshold === null ? `×${attempts.length}` : `${repeats.passed}/${attempts.length}`}
          </span>
        ) : only && isSingleState ? (
          <StateWord state={only.state} isExcluded={isExcluded} />
        ) : (
          attempts.map((attempt, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an attempt is its number
            <AttemptMark key={index} attempt={attempt} scale={scale} isExcluded={marks.get(attempt)?.isExcluded} />
          ))
        )}
        <LabelMark labels={labelsOf(cell, marks)} />
        {environmentDiffers(cell) && <EnvironmentMark />}
      </span>
    </td>
  )
})

/** All rewards, as the cell itself shows only the judged one. */
const rewardsTitle = (attempts: readonly ScenarioOutcome[]): string | undefined => {
  const rewards = attempts.slice(0, maxMarks).map(rewardsOf)
  if (rewards.every(({ length }) => length < 2)) return undefined
  return rewards
    .map((each, at) => {
      const values = each.map(([name, value]) => `${truncate(name)} ${formatScore(value)}`).join(', ')
      return attempts.length === 1 ? values : `Attempt ${at + 1}: ${values || 'no rewards'}`
    })
    .join('\n')
}

export const EnvironmentMark = () => (
  <span title="Environment differs from the task's requirements" className="ml-auto text-sm font-bold">
    ≠
  </span>
)

const labelsOf = ({ attempts }: GridCell, marks: AttemptMarks): string[] => [
  ...new Set(attempts.flatMap((each) => marks.get(each)?.labels.map(({ label }) => label) ?? [])),
]

const LabelMark = ({ labels }: { labels: readonly string[] }) =>
  labels.length > 0 && (
    <span
      title={labels.join(', ')}
      className="ml-auto min-w-0 truncate rounded-full border border-line-strong bg-surface-0 px-1.5 text-xs text-text"
    >
      <VisibleText max={60}>{labels.join(', ')}</VisibleText>
    </span>
  )

const StateWord = ({ state, isExcluded }: { state: string; isExcluded: boolean }) => {
  const look = outcomeLook(state)
  return (
    <span
      className={classes(
        'inline-flex min-w-0 shrink-0 items-center gap-1 text-xs',
        isExcluded && 'text-muted line-through',
      )}
    >
      {look && <look.icon className="size-3 shrink-0" strokeWidth={2.25} />}
      <span className="truncate">{look?.word ?? <VisibleText max={24}>{state}</VisibleText>}</span>
    </span>
  )
}

type Range = Pick<GridScale, 'low' | 'high' | 'lower_is_better'>

/** 100% for the best score. */
const qualityOf = (score: number, { low, high, lower_is_better }: Range) => {
  const part = Math.min(1, Math.max(0, (score - low) / (high - low || 1)))
  return `${100 * (lower_is_better ? 1 - part : part)}%`
}

export const scoreText = (score: number, { metric }: Pick<GridScale, 'metric'>): string =>
  isBuiltIn(metric) ? metricText(metric, score) : formatScore(score)

const unitRange: Range = { low: 0, high: 1, lower_is_better: false }

const letters: Record<string, string> = { FAILED: 'E', TIMEOUT: 'T', CANCELED: 'C' }

interface AttemptMarkProps {
  attempt: Pick<ScenarioOutcome, 'state' | 'score'>
  scale?: Range
  isExcluded?: boolean | undefined
}

/** A square filled the more the better the score, or a letter if there is none. */
export const AttemptMark = ({ attempt: { state, score }, scale = unitRange, isExcluded }: AttemptMarkProps) =>
  isExcluded ? (
    <span className="shrink-0 text-xs leading-none text-muted">×</span>
  ) : state === 'COMPLETED' && score != null ? (
    <span
      style={{ '--part': qualityOf(score, scale) } as React.CSSProperties}
      className="size-2.5 shrink-0 forced-color-adjust-none rounded-[2px] border border-current bg-[linear-gradient(to_top,currentColor_var(--part),transparent_var(--part))]"
    />
  ) : (
    <span className="shrink-0 font-mono text-xs leading-none font-semibold">{letters[state] ?? '?'}</span>
  )

const cellLabel = (cell: GridCell, rule: FailureRule, scale: GridScale, marks: AttemptMarks): string => {
  const labels = labelsOf(cell, marks)
  return [
    scoreLabel(cell, rule, scale, marks),
    ...(cell.isExcluded ? ['excluded'] : []),
    ...(labels.length > 0 ? [`labeled ${labels.join(', ')}`] : []),
    ...(environmentDiffers(cell) ? ['environment differs'] : []),
  ].join(', ')
}

const scoreLabel = (
  { attempts, score, state, isExcluded }: GridCell,
  rule: FailureRule,
  scale: GridScale,
  marks: AttemptMarks,
): string => {
  const [only] = attempts
  if (!only || state === null) return 'no outcome yet'
  const value = score[rule]
  const scored = value === null ? 'no score' : scoreText(value, scale)
  const labelOf = (attempt: ScenarioOutcome) =>
    !isExcluded && marks.get(attempt)?.isExcluded ? 'excluded' : attemptLabel(attempt, scale)
  if (attempts.length === 1) return `${scored}, ${labelOf(only)}`
  return `${scored} over ${attempts.length} attempts: ${attempts.map(labelOf).join(', ')}`
}

const attemptLabel = ({ state, score }: ScenarioOutcome, scale: GridScale): string => {
  if (state !== 'COMPLETED' || score == null) return (outcomeLook(state)?.word ?? state).toLowerCase()
  return passes(score, scale) ? 'passed' : `scored ${scoreText(score, scale)}`
}
