'use client'
import { Download, History } from 'lucide-react'
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
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { alertStateLabels, alertStates } from '#lib/protocol/alert-labels.ts'
import { type Alert, maxStoredAlerts } from '#lib/protocol/alerts.ts'
import { isAboutDevbox, kindColumn, metadataColumn, nameColumn, nodeColumn, stateColumn } from './alert-columns.tsx'
import { type AlertHistoryQuery, alertHistoryAddress, alertQueries } from './queries.ts'

const source = {
  noun: 'alert',
  nouns: 'alerts',
  params: z.object({
    state: z.optional(z.enum(alertStates)),
    search: z.optional(z.string().check(z.maxLength(256))),
    starting_after: z.optional(z.string().check(z.maxLength(256))),
  }),
  path: paths.evictionHistory,
  queryOf: (params: AlertHistoryQuery) => params,
  list: (query: AlertHistoryQuery) => alertQueries.history(query),
  filters: { state: 'state is …', search: 'has “…”' },
}

export const AlertHistory = () => {
  useShownName({ id: 'history', name: 'History' })
  const list = useListQuery(source)
  const { params } = list
  return (
    <ListPage
      title="Eviction history"
      list={list}
      actions={
        <>
          <ButtonLink href={paths.evictions()}>Pending evictions</ButtonLink>
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
        <FilterBar list={list} search="Name, metadata or person">
          <FilterSelect
            label="State"
            any="Any state"
            value={params.state}
            words={alertStateLabels}
            onFilter={(state) => list.filter({ state }, 'push')}
          />
        </FilterBar>
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
        caption="Alerts, newest first"
        columns={list.rows.some(({ node }) => node) ? [...columns, nodeColumn] : columns}
      />
      <p className="mt-3 text-sm text-muted">
        Exports contain all alerts that match the filters. The console keeps the latest{' '}
        {formatCountOf(maxStoredAlerts, 'alert')} of an account.
      </p>
    </ListPage>
  )
}

const devboxOf = devboxColumn<Alert>('devbox_id', 'overview')

const columns: Column<Alert>[] = [
  nameColumn,
  kindColumn,
  stateColumn,
  {
    ...devboxOf,
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
  metadataColumn,
  timeColumn('deadline_ms', 'Deadline'),
  timeColumn('first_heard_ms', 'Received'),
]
