import { useQueries } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { StepBody } from '../grid/outcome-sheet.tsx'
import type { TrajectoryStep } from '../logs/trajectory.ts'
import { scenarioRunQueries } from '../run/queries.ts'
import { type AlignedStep, alignSteps, divergenceText, maxAlignedSteps, stepLabel } from './align.ts'
import type { Side } from './side.ts'

type Steps = readonly TrajectoryStep[]

export const TrajectoryPair = ({ sides }: { sides: readonly [Side, Side] }) => {
  const [a, b] = [useSteps(sides[0]), useSteps(sides[1])]
  return (
    <section aria-label="Trajectories" className="space-y-2">
      <h2 className="text-lg font-medium">Trajectories</h2>
      {'steps' in a && 'steps' in b ? (
        <Aligned a={a.steps} b={b.steps} />
      ) : (
        <ul className="text-muted">
          {[a, b].map(
            (side, at) =>
              'note' in side && (
                // biome-ignore lint/suspicious/noArrayIndexKey: two sides
                <li key={at} role="status">
                  {at === 0 ? 'A' : 'B'}: {side.note}
                </li>
              ),
          )}
        </ul>
      )}
    </section>
  )
}

/** A multi-step trial has one trajectory per step; they follow each other. */
const useSteps = ({ outcome }: Side): { steps: Steps } | { note: string } => {
  const id = outcome?.scenario_run_id ?? ''
  const paths = id === '' ? [] : (outcome?.trajectories ?? [])
  const read = useQueries({
    queries: paths.map((path) => scenarioRunQueries.trajectory(id, path)),
    combine: (results) => ({
      error: results.find(({ error }) => error)?.error,
      isPending: results.some(({ isPending }) => isPending),
      steps: results.flatMap(({ data }) => data?.steps ?? []),
      isUnreadable: results.some(({ data }) => data === null),
    }),
  })
  if (!outcome) return { note: 'no attempt to compare.' }
  if (id === '') return { note: 'no logs, as setup failed before the scenario run started.' }
  if (paths.length === 0) return { note: 'the agent wrote no trajectory. Its log is compared below.' }
  if (read.error) return { note: `couldn't open the trajectory: ${problemOf(read.error).message}` }
  if (read.isPending) return { note: 'loading trajectory…' }
  if (read.isUnreadable && read.steps.length === 0) return { note: 'the trajectory file has no list of steps.' }
  return { steps: read.steps }
}

const rowsAtOnce = 100

const Aligned = ({ a, b }: { a: Steps; b: Steps }) => {
  const alignment = useMemo(() => alignSteps(a, b), [a, b])
  const [count, setCount] = useState(rowsAtOnce)
  const { rows, divergence } = alignment
  const blocks = useMemo(() => blocksOf(rows), [rows])
  const first = divergence === null ? undefined : rows[divergence]
  // All steps before it match, so both sides are at the same number.
  const labelOf = (steps: Steps) => {
    const step = steps[divergence ?? 0]
    return step ? stepLabel(step) : 'no more steps'
  }
  return (
    <>
      <p role="status">
        {divergenceText(alignment)}
        {first && (
          <>
            :{' '}
            <code className="font-mono">
              <VisibleText max={120}>{labelOf(a)}</VisibleText>
            </code>{' '}
            vs{' '}
            <code className="font-mono">
              <VisibleText max={120}>{labelOf(b)}</VisibleText>
            </code>
          </>
        )}
      </p>
      {alignment.isCut && (
        <p className="text-sm text-attention">Only the first {formatCount(maxAlignedSteps)} steps are compared.</p>
      )}
      <ol className="divide-y divide-line rounded-md border border-line" data-steps>
        {blocks
          .slice(0, count)
          .map((block) =>
            block.length > 1 ? (
              <Fold key={keyOf(block[0])} block={block} a={a} b={b} />
            ) : (
              block.map((row) => <StepRow key={keyOf(row)} row={row} a={a} b={b} isDivergence={row === first} />)
            ),
          )}
      </ol>
      {blocks.length > count && (
        <Button size="sm" onClick={() => setCount(count + rowsAtOnce)}>
          Show {formatCount(Math.min(rowsAtOnce, blocks.length - count))} more
        </Button>
      )}
    </>
  )
}

const keyOf = (row: AlignedStep | undefined) => `${row?.a} ${row?.b}`

const isEqual = ({ kind }: AlignedStep) => kind === 'same' || kind === 'reworded'

/** Equal steps in a row form one block. */
const blocksOf = (rows: readonly AlignedStep[]): AlignedStep[][] => {
  const blocks: AlignedStep[][] = []
  for (const row of rows) {
    const last = blocks.at(-1)
    if (last?.[0] && isEqual(row) && isEqual(last[0])) last.push(row)
    else blocks.push([row])
  }
  return blocks
}

interface StepsProps {
  a: Steps
  b: Steps
}

const Fold = ({ block, a, b }: StepsProps & { block: readonly AlignedStep[] }) => {
  const [isOpen, setIsOpen] = useState(false)
  const reworded = block.filter(({ kind }) => kind === 'reworded').length
  return (
    <>
      <li>
        <button
          type="button"
          data-step
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
          className="w-full bg-surface-1 px-3 py-1.5 text-left text-muted hover:text-text"
        >
          {formatCountOf(block.length, 'equal step')}
          {reworded > 0 && `, ${formatCount(reworded)} with another message`} · {isOpen ? 'Hide' : 'Show'}
        </button>
      </li>
      {isOpen && block.map((row) => <StepRow key={keyOf(row)} row={row} a={a} b={b} />)}
    </>
  )
}

const words: Record<AlignedStep['kind'], string> = {
  same: 'Same',
  reworded: 'Other message',
  changed: 'Differs',
  only_a: 'Only A',
  only_b: 'Only B',
}

const StepRow = ({ row, a, b, isDivergence = false }: StepsProps & { row: AlignedStep; isDivergence?: boolean }) => {
  const [isOpen, setIsOpen] = useState(isDivergence)
  const item = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isDivergence) item.current?.scrollIntoView({ block: 'nearest' })
  }, [isDivergence])
  const steps = [row.a === null ? undefined : a[row.a], row.b === null ? undefined : b[row.b]]
  return (
    <li ref={item} className={classes(isDivergence && 'shadow-[inset_3px_0_0_var(--attention)]')}>
      <button
        type="button"
        data-step
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="grid w-full gap-x-4 gap-y-1 px-3 py-1.5 text-left hover:bg-surface-1 lg:grid-cols-[8rem_minmax(0,1fr)_minmax(0,1fr)]"
      >
        <span className={classes('text-sm', isDivergence ? 'font-medium text-attention' : 'text-muted')}>
          {isDivergence ? 'First divergence' : words[row.kind]}
        </span>
        {steps.map((step, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two sides
          <StepLine key={at} step={step} number={at === 0 ? row.a : row.b} side={at === 0 ? 'A' : 'B'} />
        ))}
      </button>
      {isOpen && (
        <div className="grid gap-x-4 lg:grid-cols-2">
          {steps.map((step, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two sides
            <div key={at} className="min-w-0">
              {step && <StepBody step={step} />}
            </div>
          ))}
        </div>
      )}
    </li>
  )
}

interface StepLineProps {
  step: TrajectoryStep | undefined
  number: number | null
  side: string
}

const StepLine = ({ step, number, side }: StepLineProps) => (
  <span className={classes('block min-w-0 truncate', !step && 'max-lg:hidden')}>
    <span className="text-muted lg:sr-only">{side} </span>
    {step && number !== null && (
      <>
        <span className="tabular text-muted">{number + 1}</span>{' '}
        <span className="font-medium">
          <VisibleText max={40}>{step.source}</VisibleText>
        </span>{' '}
        <span className={classes(step.calls.length > 0 && 'font-mono text-sm')}>
          <VisibleText max={200}>{stepLabel(step)}</VisibleText>
        </span>
      </>
    )}
  </span>
)

/** Focuses the next or previous step; Enter opens it. */
export const focusStep = (by: 1 | -1): void => {
  const steps = [...document.querySelectorAll<HTMLElement>('[data-steps] [data-step]')]
  const at = steps.indexOf(document.activeElement as HTMLElement)
  steps[at === -1 ? 0 : Math.min(Math.max(at + by, 0), steps.length - 1)]?.focus()
}
