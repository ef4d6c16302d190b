'use client'
import { useMutation } from '@tanstack/react-query'
import { FileKey, Plus, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
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
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { serviceNow } from '#lib/client/clock.ts'
import type { PersonalKey } from '#lib/protocol/personal-keys.ts'
import type { Role } from '#lib/protocol/roles.ts'
import { personalKeyMutations, personalKeyQueries } from './key-queries.ts'

const KeyDialog = dynamic(async () => (await import('./key-dialog.tsx')).KeyDialog)

const Expiry = ({ ms }: { ms: number | null }) => {
  if (ms === null) return <span className="text-muted">Never</span>
  return ms <= serviceNow() ? <Badge tone="neutral">Expired</Badge> : <RelativeTime ms={ms} />
}

const RoleCell = ({ of: { role, current_role, expires_ms } }: { of: PersonalKey }) => {
  const isExpired = expires_ms !== null && expires_ms <= serviceNow()
  if (isExpired || current_role === role) return <span className="capitalize">{role}</span>
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span className="capitalize">{role}</span>
      <Badge tone="attention" title="Follows the role that the person has now">
        {current_role === null ? 'No access' : `now ${current_role}`}
      </Badge>
    </span>
  )
}

const created = timeColumn<PersonalKey>('created_ms', 'Created')

const columns: Column<PersonalKey>[] = [
  {
    accessorKey: 'name',
    id: 'name',
    header: 'Name',
    cell: ({ row }) => <VisibleText truncate>{row.original.name}</VisibleText>,
    meta: { priority: 1 },
  },
  {
    accessorKey: 'role',
    id: 'role',
    header: 'Role',
    cell: ({ row }) => <RoleCell of={row.original} />,
    meta: { priority: 2, width: '10.5rem' },
  },
  {
    accessorFn: ({ person }) => person ?? '',
    id: 'person',
    header: 'Person',
    cell: ({ row }) =>
      row.original.person === null ? (
        <span className="text-muted">No name</span>
      ) : (
        <VisibleText truncate>{row.original.person}</VisibleText>
      ),
    meta: { priority: 5, width: '13rem' },
  },
  {
    ...timeColumn('last_used_ms', 'Last used'),
    cell: ({ row }) =>
      row.original.last_used_ms === null ? (
        <span className="text-muted">Never</span>
      ) : (
        <RelativeTime ms={row.original.last_used_ms} />
      ),
  },
  { ...timeColumn('expires_ms', 'Expires'), cell: ({ row }) => <Expiry ms={row.original.expires_ms} /> },
  { ...created, meta: { ...created.meta, priority: 6 } },
]

const Params = z.object({
  search: z.optional(z.string().check(z.maxLength(256))),
  sort: z.optional(z.string()),
})
type Params = z.output<typeof Params>

const source = {
  noun: 'personal key',
  nouns: 'personal keys',
  params: Params,
  path: paths.personalKeys,
  columns,
  queryOf: () => ({}),
  list: () => personalKeyQueries.list(),
  arrange: (rows: readonly PersonalKey[], { search }: Params) => {
    const text = search?.toLowerCase()
    if (!text) return rows
    return rows.filter(({ name, person }) => [name, person ?? ''].some((each) => each.toLowerCase().includes(text)))
  },
  filters: { search: 'Name or person contains …' },
}

export const PersonalKeyList = ({ role }: { role: Role }) => {
  const list = useListQuery(source)
  const [isCreating, setIsCreating] = useState(false)
  const [revoking, setRevoking] = useState<PersonalKey>()
  const revoke = useMutation(personalKeyMutations.revoke())
  const revokeSelected: BulkAction<PersonalKey> = {
    icon: Trash2,
    verb: 'Revoke',
    needs: '/api/personal-keys',
    done: 'Revoked',
    failed: "Couldn't revoke every key",
    consequence: (count) => `Requests with ${count} are refused from now on.`,
    isDestructive: true,
    isEligible: () => true,
    act: ({ id }) => revoke.mutateAsync(id),
  }
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      Create key
    </Button>
  )
  return (
    <>
      <ListPage
        title="Personal keys"
        list={list}
        bulk={[revokeSelected]}
        actions={create}
        filters={
          <>
            <p className="mb-3 max-w-prose text-muted">
              Scripts use a personal key to act in your name through this console.{' '}
              <TextLink href={paths.apiKeys()} className="underline">
                API keys of the service
              </TextLink>{' '}
              belong to the account and work without the console.
            </p>
            <FilterBar list={list} search="Search keys" />
          </>
        }
        tools={
          <ListTools>
            <ViewMenu list={list} />
          </ListTools>
        }
        empty={
          <EmptyState icon={FileKey} title="No personal keys yet" action={create}>
            A personal key lets a script call this console's API with your role or a lower one. The activity log names
            you and the key.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Personal keys"
          columns={columns}
          selection={{ ...list.selection, labelOf: ({ name }) => `Select ${name}` }}
          rowActions={(key) => (
            <IconButton size="sm" icon={Trash2} label={`Revoke ${key.name}`} onClick={() => setRevoking(key)} />
          )}
        />
      </ListPage>
      {isCreating && <KeyDialog ownRole={role} onClose={() => setIsCreating(false)} />}
      {revoking && <RevokeKey of={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  )
}

/** Mount on open. */
const RevokeKey = ({ of: { id, name }, onClose }: { of: PersonalKey; onClose: () => void }) => {
  const revoke = useMutation(personalKeyMutations.revoke())
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={
        <>
          Revoke <VisibleText max={120}>{name}</VisibleText>?
        </>
      }
      consequence="Requests with this key are refused from now on, and its streams and terminals close."
      needs="/api/personal-keys"
      confirmLabel="Revoke key"
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate(id, { onSuccess: onClose })}
    />
  )
}
