'use client'
import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { truncate } from '#lib/protocol/report-words.ts'

/** An agent and the model it works with. */
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
  /** Whether the row grows with it. */
  isWhole?: boolean
}

/** The same in a row of a table: the model below the name, so that neither is cut for the other. */
export const AgentLines = ({ name, model, isWhole = false }: AgentLinesProps) => (
  <span className="block min-w-0 leading-4">
    <span className={classes('block', !isWhole && 'truncate')}>
      <VisibleText max={80}>{name.trim() || 'Unnamed agent'}</VisibleText>
    </span>
    {model && (
      <span className={classes('block text-xs leading-4 font-normal text-muted', !isWhole && 'truncate')}>
        {isWhole ? <ModelName model={model} /> : <VisibleText max={80}>{model}</VisibleText>}
      </span>
    )}
  </span>
)

/** A line may end after who provides the model. */
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

/** Two that are compared, in a row of a table that grows with them: neither may be cut off. */
export const PairLines = ({ one, other }: { one: string; other: string }) => (
  <span className="block leading-4">
    <span className="block">
      <VisibleText max={240}>{one}</VisibleText>{' '}
    </span>
    <span className="block text-xs leading-4 font-normal">
      <span className="text-muted">over</span> <VisibleText max={240}>{other}</VisibleText>
    </span>
  </span>
)

/** How many are done of how many there will be. */
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
