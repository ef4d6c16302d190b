import { RunLogs } from '#components/benchmarks/logs/run-logs.tsx'
import { type DetailPageProps, idOf } from '../../../read-page.tsx'

export default async function RunLogsPage({ params }: DetailPageProps) {
  return <RunLogs runId={await idOf(params)} />
}
