import { ApiError } from '#lib/client/api-error.ts'
import type { Client } from '#lib/client/client.ts'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import type { DemoItem, DemoKind } from '#lib/protocol/demo.ts'
import { followJob } from './load-demo.ts'

/** Deletes what the demo created and nothing else. Scenarios and benchmarks can only be archived. */
export const removeDemo = async (client: Client, items: readonly DemoItem[]): Promise<void> => {
  const idsOf = (wanted: DemoKind) => items.flatMap(({ kind, id }) => (kind === wanted && id !== null ? [id] : []))
  const each = (kind: DemoKind, remove: (id: string) => Promise<unknown>) =>
    Promise.all(idsOf(kind).map((id) => ignoringMissing(remove(id))))
  await each('job', async (id) => {
    const job = await client.benchmarkJobs.get({ params: { id } })
    if (hasJobEnded(job.state)) return
    await client.benchmarkJobs.cancel({ params: { id } })
    await followJob(client, job, { report: () => undefined })
  })
  await each('snapshot', (id) => client.snapshots.delete({ params: { id } }))
  await each('axon', (id) => client.axons.delete({ params: { id } }))
  await each('benchmark', (id) => client.benchmarks.archive({ params: { id } }))
  await each('scenario', (id) => client.scenarios.archive({ params: { id } }))
  await each('devbox', (id) => unlessEnded(client.devboxes.shutdown({ params: { id } })))
  await client.storage.deleteEnded({ body: { benchmark_jobs: idsOf('job'), devboxes: idsOf('devbox') } })
}

/** Someone may have removed it already. */
const ignoringMissing = (call: Promise<unknown>) => ignoring(404, call)
const unlessEnded = (call: Promise<unknown>) => ignoring(409, call)

const ignoring = (status: number, call: Promise<unknown>) =>
  call.catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === status)) throw error
  })
