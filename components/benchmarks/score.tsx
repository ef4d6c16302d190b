'use client'
import { useQuery } from '@tanstack/react-query'
import { classes } from '#components/ui/classes.ts'
import { Fact } from '#components/ui/facts.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import { threeDecimals, truncate } from '#lib/protocol/report-words.ts'
import { benchmarkRunQueries } from './run/queries.ts'

export const AgentName = ({ name, model }: { name: string; model: string | null | undefined }) => (
  <>
    <VisibleText max={80}>{name.trim() || 'Unnamed agent'}</VisibleText>
    {model && (
      <span className="ml-2 font-normal text-muted">
        <VisibleText max={80}>{model}</VisibleText>
      </span>
    )}
  </>
)

interface AgentLinesProps {
  name: string
  model: string | null | undefined
  differs?: string | undefined
  isWhole?: boolean
}

export const AgentLines = ({ name, model, differs, isWhole = false }: AgentLinesProps) => (
  <span className="block min-w-0 leading-4">
    <span className={classes('block', !isWhole && 'truncate')}>
      <VisibleText max={80}>{name.trim() || 'Unnamed agent'}</VisibleText>
    </span>
    {model && (
      <span className={classes('block text-xs leading-4 font-normal text-muted', !isWhole && 'truncate')}>
        {isWhole ? <ModelName model={model} /> : <VisibleText max={80}>{model}</VisibleText>}
      </span>
    )}
    {differs && (
      <span className={classes('block text-xs leading-4 font-normal text-muted', !isWhole && 'truncate')}>
        <VisibleText max={240}>{differs}</VisibleText>
      </span>
    )}
  </span>
)

/** Allows a line break after the provider. */
const ModelName = ({ model }: { model: string }) => {
  const shown = truncate(model)
  const end = shown.indexOf('/') + 1
  return (
    <>
      {end > 0 && (
        <>
          <VisibleText>{shown.slice(0, end)}</VisibleText>
          <wbr />
        </>
      )}
      <VisibleText>{shown.slice(end)}</VisibleText>
    </>
  )
}

export const PairLines = ({ one, other }: { one: string; other: string }) => (
  <span className="block leading-4">
    <span className="block">
      <VisibleText max={240}>{one}</VisibleText>{' '}
    </span>
    <span className="block text-xs leading-4 font-normal">
      <span className="text-muted">vs</span> <VisibleText max={240}>{other}</VisibleText>
    </span>
  </span>
)

export const Progress = ({ finished, total, label }: { finished: number; total: number | null; label: string }) => (
  <span className="inline-flex items-center gap-2 whitespace-nowrap">
    {total !== null && total > 0 && (
      <progress
        aria-label={label}
        value={finished}
        max={total}
        className="h-1.5 w-24 overflow-hidden rounded-full [&::-webkit-progress-bar]:bg-surface-3 [&::-webkit-progress-value]:bg-accent"
      />
    )}
    <span className="tabular">
      {total === null ? `${formatCount(finished)} finished` : `${formatCount(finished)} of ${formatCount(total)}`}
    </span>
  </span>
)

interface RunScoreProps {
  run: BenchmarkRun
  /** Fallback if the service does not report the count. */
  outcomes?: number | undefined
  isShort?: boolean
}

export const RunScore = ({ run, outcomes, isShort = false }: RunScoreProps) => {
  const { id, state, score } = run
  const known = run.n_scenario_runs ?? outcomes
  const { data } = useQuery({
    ...benchmarkRunQueries.scenarioRunCount(id),
    enabled: score != null && known === undefined,
  })
  const count = known ?? data
  if (score == null)
    return (
      <span className="text-muted">
        {state !== 'running' ? 'None' : isShort ? 'None yet' : 'None until the run ends'}
      </span>
    )
  return (
    <span
      className="tabular whitespace-nowrap"
      title={isShort ? 'n counts scenario runs, completed or not' : undefined}
    >
      <span className="font-medium">{threeDecimals(score)}</span>{' '}
      <span className="text-muted">
        (n = {count === undefined ? '…' : count === null ? 'not reported' : formatCount(count)}
        {!isShort && count !== null && ' scenario runs'})
      </span>
    </span>
  )
}

interface TextFactProps {
  label: string
  text: string | null | undefined
  mono?: boolean
}

export const TextFact = ({ label, text, mono }: TextFactProps) =>
  text ? (
    <Fact label={label} className={mono ? 'font-mono text-sm break-all' : undefined}>
      <VisibleText max={2_000}>{text}</VisibleText>
    </Fact>
  ) : null
