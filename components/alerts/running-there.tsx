'use client'
import { useQuery } from '@tanstack/react-query'
import { executionQueries } from '#components/commands/queries.ts'
import { terminalQueries } from '#components/terminal/queries.ts'
import { problemOf } from '#components/ui/problem.ts'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { scenarioRunQueries } from '#lib/browser/queries/scenario-runs.ts'
import type { Alert } from '#lib/protocol/alerts.ts'

/**
 * What would be cut short: commands that have not ended, shells this console holds open with the people who look at
 * them, and the benchmark whose trial it is.
 */
export const RunningThere = ({ alert: { devbox_id, scenario_run_id } }: { alert: Alert }) => {
  const { data: commands, error: noCommands } = useQuery(executionQueries.running(devbox_id))
  const { data: terminals, error: noTerminals } = useQuery(terminalQueries.held(devbox_id))
  const people = terminals?.reduce((sum, { viewers }) => sum + viewers.length, 0) ?? 0
  if (!commands || !terminals) {
    const error = noCommands ?? noTerminals
    return (
      <span className="text-muted" title={error ? problemOf(error).message : undefined}>
        {error ? 'Could not be asked' : 'Asking …'}
      </span>
    )
  }
  const [first] = commands
  const isQuiet = commands.length + terminals.length === 0 && !scenario_run_id
  return (
    <span className="inline-flex max-w-full min-w-0 items-baseline gap-x-2">
      {isQuiet && <span className="text-muted">Nothing known</span>}
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
        <span className="shrink-0" title="Open through this console">
          {formatCountOf(terminals.length, 'terminal')}
          {people > 0 && `, ${people} watching`}
        </span>
      )}
    </span>
  )
}

const Trial = ({ id }: { id: string }) => {
  const { data } = useQuery(scenarioRunQueries.get(id))
  if (!data?.benchmark_run_id) return <span className="shrink-0">A trial</span>
  return (
    <TextLink href={paths.benchmarkRun(data.benchmark_run_id)} inRow className="shrink-0">
      Benchmark run
    </TextLink>
  )
}
