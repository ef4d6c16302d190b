'use client'
import { Download, History } from 'lucide-react'
import Link from 'next/link'
import * as z from 'zod/mini'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { FilterSelect } from '#components/filters/filter-select.tsx'
import { useShownName } from '#components/layout/page-name.tsx'
import type { Column } from '#components/list/column.ts'
import { DevboxLink, devboxColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListPage } from '#components/list/use-list-page.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import { type Alert, type AlertHistory as Alerts, maxStoredAlerts } from '#lib/protocol/alerts.ts'
import { kindColumn, metadataColumn, nameColumn, stateColumn } from './alert-columns.tsx'
import { alertStateLabels } from './alert-text.ts'
import { type AlertHistoryQuery, alertHistoryAddress, alertQueries } from './queries.ts'

const states = ['new', 'acknowledged', 'moved', 'ended', 'passed', 'withdrawn', 'cancelled', 'stopped', 'seen'] as const

const source = {
  noun: 'alert',
  nouns: 'alerts',
  schema: z.object({
    state: z.optional(z.enum(states)),
    search: z.optional(z.string().check(z.maxLength(256))),
    starting_after: z.optional(z.string().check(z.maxLength(256))),
  }),
  path: paths.evictionHistory,
  filters: { state: 'state is …', search: 'has “…”' },
  pages: (query: AlertHistoryQuery) => alertQueries.history(query),
  rowsOf: ({ alerts }: Alerts) => alerts,
} as const

/** What this console has heard of, newest first. */
export const AlertHistory = () => {
  useShownName({ id: 'history', name: 'History' })
  const page = useListPage(source)
  const { view, narrow } = page
  return (
    <ListPage
      title="Eviction history"
      page={page}
      actions={
        <>
          <ButtonLink href={paths.evictions()}>Pending evictions</ButtonLink>
          {(['csv', 'json'] as const).map((format) => (
            <ButtonLink
              key={format}
              icon={Download}
              href={alertHistoryAddress({ ...view, starting_after: undefined }, format)}
              prefetch={false}
              download
            >
              Export {format.toUpperCase()}
            </ButtonLink>
          ))}
        </>
      }
      filterBar={
        <FilterBar page={page} search="Name, metadata or person">
          <FilterSelect
            label="State"
            any="Any state"
            value={view.state}
            words={alertStateLabels}
            onFilter={(state) => narrow({ state }, 'push')}
          />
        </FilterBar>
      }
      columns={7}
      none={
        <EmptyState icon={History} title="No evictions yet">
          What this console hears of evictions is kept here, with who took each on and what became of it: the latest{' '}
          {formatCountOf(maxStoredAlerts, 'alert')}.
        </EmptyState>
      }
    >
      <DataTable {...page.table} caption="Alerts, newest first" columns={columns} />
      <p className="mt-3 text-sm text-muted">
        An export has every alert that the filters leave, not this page alone. This console keeps the latest{' '}
        {formatCountOf(maxStoredAlerts, 'alert')} of an account.
      </p>
    </ListPage>
  )
}

const devboxOf = devboxColumn<Alert>('overview', ({ devbox_id }) => devbox_id)

const columns: Column<Alert>[] = [
  nameColumn('Name'),
  kindColumn,
  stateColumn(2),
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
        <DevboxLink id={alert.devbox_id} tab="overview" />
      ),
  },
  metadataColumn,
  timeColumn('Deadline', ({ deadline_ms }: Alert) => deadline_ms),
  timeColumn('Heard', ({ first_heard_ms }: Alert) => first_heard_ms),
]
