'use client'
import { useQuery } from '@tanstack/react-query'
import { scenarioRunQueries } from '#components/benchmarks/run/queries.ts'
import { executionQueries } from '#components/commands/queries.ts'
import { terminalQueries } from '#components/terminal/queries.ts'
import { problemOf } from '#components/ui/problem.ts'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import type { Alert } from '#lib/protocol/alerts.ts'

/** Work that an eviction would interrupt: commands, terminals with their viewers, or a benchmark trial. */
export const RunningWork = ({ alert: { devbox_id, scenario_run_id } }: { alert: Alert }) => {
  const { data: commands, error: commandsError } = useQuery(executionQueries.running(devbox_id))
  const { data: terminals, error: terminalsError } = useQuery(terminalQueries.held(devbox_id))
  if (!commands || !terminals) {
    const error = commandsError ?? terminalsError
    return (
      <span className="text-muted" title={error ? problemOf(error).message : undefined}>
        {error ? 'Unknown' : 'Loading …'}
      </span>
    )
  }
  const viewers = terminals.reduce((sum, terminal) => sum + terminal.viewers.length, 0)
  const [first] = commands
  const isIdle = commands.length + terminals.length === 0 && !scenario_run_id
  return (
    <span className="inline-flex max-w-full min-w-0 items-baseline gap-x-2">
      {isIdle && <span className="text-muted">Nothing reported</span>}
      {scenario_run_id && <Trial id={scenario_run_id} />}
      {first !== undefined && (
        <span className="min-w-0 truncate" title={commands.join('\n')}>
          <code className="font-mono">
            <VisibleText max={40}>{first}</VisibleText>
          </code>
          {commands.length > 1 && ` and ${commands.length - 1} more`}
        </span>
      )}
      {terminals.length > 0 && (
        <span className="shrink-0" title="Open in this console">
          {formatCountOf(terminals.length, 'terminal')}
          {viewers > 0 && `, ${viewers} watching`}
        </span>
      )}
    </span>
  )
}

const Trial = ({ id }: { id: string }) => {
  const { data } = useQuery(scenarioRunQueries.get(id))
  if (!data?.benchmark_run_id) return <span className="shrink-0">Trial</span>
  return (
    <TextLink href={paths.benchmarkRun(data.benchmark_run_id)} inRow className="shrink-0">
      Benchmark run
    </TextLink>
  )
}
