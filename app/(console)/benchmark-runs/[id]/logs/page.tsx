import { RunLogs } from '#components/benchmarks/logs/run-logs.tsx'

export default async function RunLogsPage({ params }: { params: Promise<{ id: string }> }) {
  return <RunLogs runId={(await params).id} />
}
