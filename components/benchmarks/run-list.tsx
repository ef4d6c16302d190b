'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ListChecks } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { ListView } from '#components/list/list-view.tsx'
import { metadataColumn } from '#components/list/metadata-column.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { type Column, DataTable } from '#components/ui/data-table.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { Select } from '#components/ui/select.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { formatDurationMs } from '#lib/console/frame/format.ts'
import { conditionText, withCondition, withoutCondition } from '#lib/console/lists/metadata-condition.ts'
import { benchmarkRunQueries } from '#lib/console/queries/benchmark-runs.ts'
import { type BenchmarkRun, type BenchmarkRunListQuery, benchmarkRunStates } from '#lib/contract/benchmark-runs.ts'
import { BenchmarkState } from './benchmark-state.tsx'
import { RunScore } from './score.tsx'

export const RunList = ({ query }: { query: BenchmarkRunListQuery }) => {
  const router = useRouter()
  const [key, setKey] = useState<string | null>(null)
  const list = useInfiniteQuery(benchmarkRunQueries.list(query))
  const { data: keys } = useQuery({ ...benchmarkRunQueries.benchmarkMetadataKeys(), enabled: key !== null })
  const { data: values } = useQuery({
    ...benchmarkRunQueries.benchmarkMetadataValues(key ?? ''),
    enabled: Boolean(key),
  })
  const runs = list.data?.pages.flatMap((page) => page.runs) ?? []
  const href = (part: Partial<BenchmarkRunListQuery>) =>
    paths.benchmarkRuns({ ...query, starting_after: undefined, ...part })
  const filters = activeFilters(query)
  return (
    <>
      <PageHeader title="Benchmark runs" />
      <FilterBar
        search={query.search ?? ''}
        maxSearchLength={256}
        onSearch={(search) => router.replace(href({ search: search || undefined }), { scroll: false })}
        metadata={{
          keys: keys?.keys,
          values: values?.values,
          onKey: setKey,
          onAdd: (condition) =>
            router.push(href({ metadata: withCondition(query.metadata, condition) }), { scroll: false }),
        }}
        filters={filters}
        clearHref={paths.benchmarkRuns({ limit: query.limit })}
      >
        <Select
          aria-label="State"
          className="w-40 max-sm:flex-1"
          value={query.state ?? ''}
          onChange={({ target }) =>
            router.push(href({ state: (target.value || undefined) as BenchmarkRunListQuery['state'] }), {
              scroll: false,
            })
          }
          options={[
            { value: '', label: 'Any state' },
            ...benchmarkRunStates.map((value) => ({ value, label: stateWords[value] })),
          ]}
        />
      </FilterBar>
      <ListView
        noun="run"
        nouns="runs"
        list={list}
        shown={runs.length}
        columns={5}
        filters={filters}
        clearHref={paths.benchmarkRuns({ limit: query.limit })}
        newestHref={query.starting_after && href({})}
        none={
          <EmptyState
            icon={ListChecks}
            title="No benchmark runs yet"
            action={<ButtonLink href={paths.benchmarkJobs()}>Benchmark jobs</ButtonLink>}
          >
            A run is one agent at the scenarios of a benchmark or of a job. Jobs make theirs; scripts start their own
            with POST /v1/benchmarks/start_run.
          </EmptyState>
        }
      >
        <DataTable
          caption="Benchmark runs, newest first"
          columns={columnsFor(query)}
          rows={runs}
          rowKey={({ id }) => id}
          rowHref={({ id }) => paths.benchmarkRun(id)}
          busy={list.isPlaceholderData}
        />
      </ListView>
    </>
  )
}

const stateWords: Record<(typeof benchmarkRunStates)[number], string> = {
  running: 'Running',
  canceled: 'Cancelled',
  completed: 'Completed',
  failed: 'Failed',
}

const columnsFor = (query: BenchmarkRunListQuery): Column<BenchmarkRun>[] => [
  {
    id: 'name',
    header: 'Name',
    priority: 1,
    cell: ({ name }) =>
      name ? <VisibleText truncate>{name}</VisibleText> : <span className="font-normal text-muted">Unnamed</span>,
  },
  {
    id: 'state',
    header: 'State',
    priority: 2,
    width: '8.5rem',
    cell: ({ state }) => <BenchmarkState of="run" state={state} />,
  },
  {
    id: 'score',
    header: 'Score',
    priority: 3,
    width: '14rem',
    cell: (run) => <RunScore run={run} />,
  },
  {
    id: 'benchmark',
    header: 'Benchmark',
    priority: 3,
    width: '11.5rem',
    cell: ({ benchmark_id }) => benchmark_id && <CopyableId value={benchmark_id} label="benchmark id" />,
  },
  metadataColumn(query, paths.benchmarkRuns),
  {
    id: 'duration',
    header: 'Duration',
    priority: 3,
    width: '7rem',
    align: 'right',
    cell: ({ duration_ms }) => (duration_ms == null ? '' : formatDurationMs(duration_ms)),
  },
  {
    id: 'started',
    header: 'Started',
    priority: 3,
    width: '7rem',
    align: 'right',
    cell: ({ start_time_ms }) => <RelativeTime ms={start_time_ms} />,
  },
]

/** Each filter in words, with the address of the list without it. */
const activeFilters = (query: BenchmarkRunListQuery) => {
  const without = (part: Partial<BenchmarkRunListQuery>) =>
    paths.benchmarkRuns({ ...query, starting_after: undefined, ...part })
  const { search, name, state, benchmark_id, metadata = [] } = query
  return [
    ...(search ? [{ text: `id or name contains ${search}`, hrefWithout: without({ search: undefined }) }] : []),
    ...(name ? [{ text: `name contains ${name}`, hrefWithout: without({ name: undefined }) }] : []),
    ...(state ? [{ text: `state is ${state}`, hrefWithout: without({ state: undefined }) }] : []),
    ...(benchmark_id
      ? [{ text: `benchmark is ${benchmark_id}`, hrefWithout: without({ benchmark_id: undefined }) }]
      : []),
    ...metadata.map((condition) => ({
      text: conditionText(condition),
      hrefWithout: without({ metadata: withoutCondition(metadata, condition) }),
    })),
  ]
}
