'use client'
import { useMutation } from '@tanstack/react-query'
import { LogOut, MonitorSmartphone } from 'lucide-react'
import { useState } from 'react'
import * as z from 'zod/mini'
import type { Column } from '#components/list/column.ts'
import { timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import type { BulkAction } from '#components/list/selection-bar.tsx'
import { useListQuery } from '#components/list/use-list-query.ts'
import { ListTools, ViewMenu } from '#components/list/view-menu.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import type { SignedInSession, SignInMethod } from '#lib/protocol/sessions.ts'
import { signedInMutations, signedInQueries } from './session-queries.ts'

const methodWords: Partial<Record<string, string>> = {
  sso: 'Single sign-on',
  key: 'API key',
  link: 'Sign-in link',
} satisfies Record<SignInMethod, string>

const methodText = ({ method }: SignedInSession) => methodWords[method] ?? method

const nameOf = ({ person, method, browser }: SignedInSession) =>
  `${person ?? methodWords[method] ?? method}, ${browser}`

const since = timeColumn<SignedInSession>('since_ms', 'Since')

const columns: Column<SignedInSession>[] = [
  {
    accessorFn: ({ person }) => person ?? '',
    id: 'person',
    header: 'Person',
    cell: ({ row: { original: session } }) => (
      <span className="flex min-w-0 items-center gap-x-2 max-sm:flex-wrap">
        {session.person === null ? (
          <span className="truncate font-normal text-muted">No name</span>
        ) : (
          <VisibleText truncate>{session.person}</VisibleText>
        )}
        {session.is_current && (
          <span className="shrink-0">
            <Badge tone="ok">This session</Badge>
          </span>
        )}
      </span>
    ),
    meta: { priority: 1 },
  },
  {
    accessorKey: 'browser',
    id: 'browser',
    header: 'Browser',
    cell: ({ row }) => <VisibleText truncate>{row.original.browser}</VisibleText>,
    meta: { priority: 2, width: '11rem' },
  },
  {
    accessorFn: methodText,
    id: 'method',
    header: 'Signed in with',
    cell: ({ row }) => <VisibleText truncate>{methodText(row.original)}</VisibleText>,
    meta: { priority: 7, width: '9rem' },
  },
  {
    accessorKey: 'address',
    id: 'address',
    header: 'IP address',
    cell: ({ row }) => <VisibleText truncate>{row.original.address}</VisibleText>,
    meta: { priority: 6, mono: true, width: '10rem' },
  },
  { ...since, meta: { ...since.meta, priority: 5, width: '8rem' } },
  timeColumn('last_used_ms', 'Last used'),
]

const Params = z.object({
  search: z.optional(z.string().check(z.maxLength(256))),
  sort: z.optional(z.string()),
})
type Params = z.output<typeof Params>

const source = {
  noun: 'session',
  nouns: 'sessions',
  params: Params,
  path: paths.sessions,
  columns,
  queryOf: () => ({}),
  list: () => signedInQueries.list(),
  arrange: (rows: readonly SignedInSession[], { search }: Params) => {
    const text = search?.toLowerCase()
    if (!text) return rows
    return rows.filter((row) =>
      [row.person ?? '', row.browser, row.address, methodText(row)].some((each) => each.toLowerCase().includes(text)),
    )
  },
  filters: { search: 'Person, browser or address contains …' },
}

export const SessionList = () => {
  const list = useListQuery(source)
  const [ending, setEnding] = useState<SignedInSession | 'others'>()
  const end = useMutation(signedInMutations.end())
  const { n_others = 0 } = list.query.data?.pages[0] ?? {}
  const endSelected: BulkAction<SignedInSession> = {
    icon: LogOut,
    verb: 'End',
    needs: '/api/sessions',
    done: 'Ended',
    failed: "Couldn't end every session",
    consequence: (count) => `Signs out ${count} immediately.`,
    isDestructive: true,
    isEligible: ({ is_current }) => !is_current,
    act: ({ id }) => end.mutateAsync(id),
  }
  return (
    <>
      <ListPage
        title="Sessions"
        list={list}
        bulk={[endSelected]}
        actions={
          <Button
            icon={LogOut}
            disabledReason={list.query.data && n_others === 0 ? 'you have no other sessions' : null}
            onClick={() => setEnding('others')}
          >
            End all others
          </Button>
        }
        filters={<FilterBar list={list} search="Search sessions" />}
        tools={
          <ListTools>
            <ViewMenu list={list} />
          </ListTools>
        }
        empty={
          <EmptyState icon={MonitorSmartphone} title="No sessions">
            Browsers that are signed in to this account appear here.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Sessions"
          order="last used first"
          columns={columns}
          selection={{ ...list.selection, labelOf: (session) => `Select session of ${nameOf(session)}` }}
          rowActions={(session) => (
            <IconButton
              size="sm"
              icon={LogOut}
              label={`End session of ${nameOf(session)}`}
              disabledReason={session.is_current ? 'sign out in the account menu instead' : null}
              onClick={() => setEnding(session)}
            />
          )}
        />
      </ListPage>
      {ending === 'others' && (
        <EndOthers
          count={n_others}
          current={list.loaded.find(({ is_current }) => is_current)}
          onClose={() => setEnding(undefined)}
        />
      )}
      {ending !== undefined && ending !== 'others' && (
        <EndSession session={ending} onClose={() => setEnding(undefined)} />
      )}
    </>
  )
}

/** Mount on open. */
const EndSession = ({ session, onClose }: { session: SignedInSession; onClose: () => void }) => {
  const end = useMutation(signedInMutations.end())
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title="End session?"
      consequence={
        <>
          <VisibleText max={200} className="font-medium">
            {nameOf(session)}
          </VisibleText>{' '}
          is signed out immediately. Its terminals close; their shells keep running.
        </>
      }
      needs="/api/sessions"
      confirmLabel="End session"
      busy={end.isPending}
      error={end.error}
      onConfirm={() => end.mutate(session.id, { onSuccess: onClose })}
    />
  )
}

/** Mount on open. */
const EndOthers = ({
  count,
  current,
  onClose,
}: {
  count: number
  current: SignedInSession | undefined
  onClose: () => void
}) => {
  const end = useMutation(signedInMutations.endOthers())
  const sessions = formatCountOf(count, 'other session')
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title="End all other sessions?"
      consequence={
        current?.method === 'sso' && current.person !== null ? (
          <>
            Signs <VisibleText max={120}>{current.person}</VisibleText> out of {sessions} immediately. This one stays
            signed in.
          </>
        ) : (
          `Ends ${sessions} started with an API key or a sign-in link, no matter who uses them. This one stays signed in.`
        )
      }
      needs="/api/sessions"
      confirmLabel="End sessions"
      busy={end.isPending}
      error={end.error}
      onConfirm={() =>
        end.mutate(undefined, {
          onSuccess: () => {
            onClose()
            toast.ok(`Ended ${sessions}`)
          },
        })
      }
    />
  )
}
