'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, LoaderCircle } from 'lucide-react'
import { useEffect, useState } from 'react'
import { devboxKeys } from '#components/devboxes/query-keys.ts'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { comparedJobs, type DemoItem, type DemoKind, type DemoView } from '#lib/protocol/demo.ts'
import { demoMutations, isDemoChanging } from './demo-queries.ts'

/** Progress of the demo data while it loads; then what it is, and its removal. */
export const DemoData = ({ demo }: { demo: DemoView }) => {
  const [isConfirming, setConfirming] = useState(false)
  const remove = useMutation({ ...demoMutations.remove(), onSettled: () => setConfirming(false) })
  useRefreshOn(`${demo.state} ${demo.items.filter(({ id }) => id !== null).length}`)
  if (demo.state === 'none' || demo.state === 'unavailable') return null
  const jobs = comparedJobs(demo.items)
  const isChanging = isDemoChanging(demo)
  return (
    <section aria-labelledby="demo-data" className="mb-8">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line pb-2">
        <h2 id="demo-data" className="text-lg font-medium">
          Demo data
        </h2>
        <p role="status" className="text-muted">
          {demo.state === 'loaded' ? countsOf(demo.items) : words[demo.state]}
        </p>
        <span className="ml-auto flex items-center gap-4">
          {jobs.length > 1 && !isChanging && <TextLink href={paths.compare(jobs)}>Compare the jobs</TextLink>}
          {!isChanging && (
            <Button size="sm" needs="/api/demo" onClick={() => setConfirming(true)}>
              Remove demo data
            </Button>
          )}
        </span>
      </div>
      {demo.state === 'failed' && (
        <p role="alert" className="py-2 text-danger">
          {demo.problem}. Remove the demo data to start again.
        </p>
      )}
      {demo.state === 'loading' && (
        <ul>
          {demo.items
            .filter(({ kind }) => kind !== 'scenario')
            .map((item) => (
              <Row key={`${item.kind} ${item.name}`} item={item} />
            ))}
        </ul>
      )}
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title="Remove demo data?"
        consequence={`Deletes ${countsOf(demo.items)} that the demo created, and archives its benchmark and scenarios. Everything else stays.`}
        needs="/api/demo"
        confirmLabel="Remove demo data"
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
      />
    </section>
  )
}

const words = { loading: 'Loading', failed: 'Incomplete', removing: 'Removing' }

const Row = ({ item: { kind, name, id, is_ready, detail } }: { item: DemoItem }) => {
  const Icon = is_ready ? CircleCheck : LoaderCircle
  return (
    <li className="flex h-9 items-center gap-3 border-b border-line px-1">
      <Icon aria-hidden className={is_ready ? 'size-4 text-ok' : 'size-4 text-muted motion-safe:animate-spin'} />
      <span className="w-20 shrink-0 text-muted">{labels[kind]}</span>
      {id === null ? (
        <span className="min-w-0 truncate">{name}</span>
      ) : (
        <TextLink href={addressOf[kind](id)} className="min-w-0 truncate">
          {name}
        </TextLink>
      )}
      <span className="ml-auto shrink-0 text-muted">{is_ready ? 'Ready' : (detail ?? 'Creating')}</span>
    </li>
  )
}

const labels: Record<DemoKind, string> = {
  job: 'Job',
  devbox: 'Devbox',
  snapshot: 'Snapshot',
  axon: 'Axon',
  benchmark: 'Benchmark',
  scenario: 'Scenario',
}

const addressOf: Record<DemoKind, (id: string) => string> = {
  job: paths.benchmarkJob,
  devbox: paths.devbox,
  snapshot: paths.snapshot,
  axon: paths.axon,
  benchmark: () => paths.benchmarks(),
  scenario: paths.scenario,
}

const countsOf = (items: readonly DemoItem[]): string => {
  const count = (wanted: DemoKind) => items.filter(({ kind, id }) => kind === wanted && id !== null).length
  return [
    formatCountOf(count('devbox'), 'devbox', 'devboxes'),
    formatCountOf(count('snapshot'), 'snapshot', 'snapshots'),
    formatCountOf(count('axon'), 'axon', 'axons'),
    formatCountOf(count('job'), 'job', 'jobs'),
  ].join(', ')
}

/** Reads the lists of the overview again when `version` changes. */
const useRefreshOn = (version: string) => {
  const client = useQueryClient()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version is the reason
  useEffect(() => {
    for (const queryKey of [devboxKeys.lists, ['axons'], ['benchmark-jobs']])
      void client.invalidateQueries({ queryKey })
  }, [client, version])
}
