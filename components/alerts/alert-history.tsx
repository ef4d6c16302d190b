'use client'
import { useQuery } from '@tanstack/react-query'
import { ClipboardList, Download, History } from 'lucide-react'
import Link from 'next/link'
import * as z from 'zod/mini'
import { useShownName } from '#components/layout/page-name.tsx'
import type { Column } from '#components/list/column.ts'
import { DevboxLink, devboxColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { FilterSelect } from '#components/list/filter-fields.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListQuery } from '#components/list/use-list-query.ts'
import { ListTools, ViewMenu } from '#components/list/view-menu.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { TextLink } from '#components/ui/text-link.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf, formatDurationMs, isoTime } from '#lib/browser/format.ts'
import { alertKindLabels, alertKinds, alertStateLabels, alertStates } from '#lib/protocol/alert-labels.ts'
import { type AlertOutcome, alertOutcomes, isEvicted } from '#lib/protocol/alert-outcomes.ts'
import { type AlertPeriod, alertPeriods } from '#lib/protocol/alert-period.ts'
import { type Alert, maxStoredAlerts } from '#lib/protocol/alerts.ts'
import { kindColumn, metadataColumn, nameColumn, nodeColumn, stateColumn } from './alert-columns.tsx'
import { isAboutDevbox } from './alert-feed.ts'
import { PeriodFields } from './period-fields.tsx'
import { type AlertHistoryQuery, alertHistoryAddress, alertQueries } from './queries.ts'

const periodTexts: Record<AlertPeriod, string> = {
  '12h': 'in the last 12 hours',
  '24h': 'in the last 24 hours',
  '7d': 'in the last 7 days',
  month: 'this month',
}

/** In UTC: the server doesn't know the browser's time zone. */
const minuteOf = (ms: string) => isoTime(Number(ms))?.replace(/:\d\d\.\d+Z$/, 'Z')

const devboxOf = devboxColumn<Alert>('devbox_id', 'overview')

const columns: Column<Alert>[] = [
  nameColumn,
  kindColumn,
  stateColumn,
  {
    ...devboxOf,
    accessorFn: ({ job, devbox_id }) => job?.id ?? devbox_id,
    header: 'Devbox or job',
    cell: ({ row: { original: alert } }) =>
      alert.job ? (
        <Link
          href={paths.benchmarkJob(alert.job.id)}
          prefetch={false}
          title={alert.job.id}
          className="relative z-1 hover:underline"
        >
          {shortenMiddle(alert.job.id, 18)}
        </Link>
      ) : (
        isAboutDevbox(alert) && <DevboxLink id={alert.devbox_id} tab="overview" />
      ),
  },
  {
    accessorFn: ({ work }) => work?.commands,
    id: 'work',
    header: 'Running work',
    cell: ({ row: { original: alert } }) => {
      if (alert.work) return alert.work.commands === 0 ? 'None' : formatCountOf(alert.work.commands, 'command')
      return isEvicted(alert) && <span className="text-muted">Not reported</span>
    },
    meta: { priority: 4, width: '8rem' },
  },
  metadataColumn,
  timeColumn('deadline_ms', 'Deadline'),
  timeColumn('first_heard_ms', 'Received'),
]

const source = {
  noun: 'alert',
  nouns: 'alerts',
  params: z.object({
    period: z.optional(z.enum(alertPeriods)),
    from_ms: z.optional(z.coerce.number().check(z.int())),
    to_ms: z.optional(z.coerce.number().check(z.int())),
    kind: z.optional(z.enum(alertKinds)),
    outcome: z.optional(z.enum(alertOutcomes)),
    state: z.optional(z.enum(alertStates)),
    search: z.optional(z.string().check(z.maxLength(256))),
    starting_after: z.optional(z.string().check(z.maxLength(256))),
    sort: z.optional(z.string()),
  }),
  path: paths.evictionHistory,
  columns: [...columns, nodeColumn],
  queryOf: ({ sort: _, ...query }: AlertHistoryQuery & { sort?: string | undefined }): AlertHistoryQuery => query,
  list: (query: AlertHistoryQuery) => alertQueries.history(query),
  filters: {
    period: (period: string) => periodTexts[period as AlertPeriod],
    from_ms: (ms: string) => `from ${minuteOf(ms)}`,
    to_ms: (ms: string) => `before ${minuteOf(ms)}`,
    kind: 'kind is …',
    state: 'state is …',
    outcome: (outcome: string) => outcomeLabels[outcome as AlertOutcome].toLowerCase(),
    search: 'has “…”',
  },
}

const outcomeLabels: Record<AlertOutcome, string> = {
  interrupted: 'Hit running work',
  unattended: 'Ended unacknowledged',
}

export const AlertHistory = () => {
  useShownName({ id: 'history', name: 'History' })
  const list = useListQuery(source)
  const { params } = list
  return (
    <ListPage
      title="Eviction history"
      list={list}
      tools={
        <ListTools>
          <ViewMenu list={list} />
        </ListTools>
      }
      actions={
        <>
          <ButtonLink href={paths.evictions()}>Pending evictions</ButtonLink>
          <ButtonLink
            icon={ClipboardList}
            href={paths.shiftReport({ period: params.period, from_ms: params.from_ms, to_ms: params.to_ms })}
          >
            Shift report
          </ButtonLink>
          {(['csv', 'json'] as const).map((format) => (
            <ButtonLink
              key={format}
              icon={Download}
              href={alertHistoryAddress({ ...params, starting_after: undefined }, format)}
              prefetch={false}
              download
            >
              Export {format.toUpperCase()}
            </ButtonLink>
          ))}
        </>
      }
      filters={
        <>
          <FilterBar list={list} search="Name, metadata or person">
            <PeriodFields value={params} any="Any time" onChange={(period) => list.filter(period, 'push')} />
            <FilterSelect
              label="Kind"
              any="Any kind"
              value={params.kind}
              words={alertKindLabels}
              onFilter={(kind) => list.filter({ kind }, 'push')}
            />
            <FilterSelect
              label="State"
              any="Any state"
              value={params.state}
              words={alertStateLabels}
              onFilter={(state) => list.filter({ state }, 'push')}
            />
            <FilterSelect
              label="Outcome"
              any="Any outcome"
              value={params.outcome}
              words={outcomeLabels}
              onFilter={(outcome) => list.filter({ outcome }, 'push')}
            />
          </FilterBar>
          <Summary {...params} />
        </>
      }
      empty={
        <EmptyState icon={History} title="No evictions yet">
          Evictions and other alerts appear here with their acknowledgments and outcomes. The console keeps the latest{' '}
          {formatCountOf(maxStoredAlerts, 'alert')}.
        </EmptyState>
      }
    >
      <DataTable
        {...list.table}
        caption="Alerts"
        rowHref={({ id }) => paths.alert(id)}
        columns={list.rows.some(({ node }) => node) ? [...columns, nodeColumn] : columns}
      />
      <p className="mt-3 text-sm text-muted">
        Exports contain all alerts that match the filters. The console keeps the latest{' '}
        {formatCountOf(maxStoredAlerts, 'alert')} of an account.
      </p>
    </ListPage>
  )
}

/** Evictions of the period that hit running work. Ignores the other filters. */
const Summary = ({ period, from_ms, to_ms, search }: AlertHistoryQuery) => {
  const query = { period, from_ms, to_ms, search }
  const { data } = useQuery(alertQueries.summary(query))
  if (!data) return null
  const { evicted, interrupted, commands, unknown, unattended, response } = data
  const isCustom = from_ms !== undefined || to_ms !== undefined
  const when = period ? periodTexts[period] : isCustom ? 'in this period' : 'in the history'
  const only = (outcome: AlertOutcome) => paths.evictionHistory({ ...query, kind: 'eviction', outcome })
  if (evicted === 0) return <p className="mb-3 text-muted">{`No devboxes were evicted ${when}. Drills excluded.`}</p>
  return (
    <p className="tabular mb-3">
      <TextLink href={only('interrupted')}>
        {formatCount(interrupted)} of {formatCountOf(evicted, 'eviction')}
      </TextLink>{' '}
      {when} hit running work ({formatCountOf(commands, 'command')}
      {unknown > 0 && `; not reported for ${formatCount(unknown)}`});{' '}
      <TextLink href={only('unattended')}>{formatCount(unattended)} ended unacknowledged</TextLink>
      {response.median_ms !== null &&
        `; median time to acknowledge ${formatDurationMs(response.median_ms)} (n = ${formatCount(response.n)})`}
      . <span className="text-muted">Drills excluded.</span>
    </p>
  )
}
