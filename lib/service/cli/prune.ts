import type { Pruned } from '#lib/contract/storage.ts'
import { countOf, sizeText } from '#lib/service/kit/amounts.ts'
import { callOperator } from './call-operator.ts'
import type { CommandLine } from './command-line.ts'

export const prune = async ({ dataDir, prune: { olderThanSeconds, dryRun } }: CommandLine) => {
  const { bytes, ...counts } = await callOperator<Pruned>(dataDir, '/local/prune', {
    ...(olderThanSeconds !== undefined && { older_than_seconds: olderThanSeconds }),
    dry_run: dryRun,
  })
  const parts = [
    countOf(counts.devboxes, 'devbox', 'devboxes'),
    countOf(counts.executions, 'command'),
    countOf(counts.benchmark_jobs, 'job'),
    countOf(counts.benchmark_runs, 'run'),
    countOf(counts.scenario_runs, 'scenario run'),
  ]
  console.log(`${dryRun ? 'Would delete' : 'Deleted'} ${parts.join(', ')}: ${sizeText(bytes)}`)
}
