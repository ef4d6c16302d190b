'use client'
import { useMutation } from '@tanstack/react-query'
import { KeyRound, Plus, RotateCw, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useMemo, useState } from 'react'
import { CodeSample } from '#components/layout/code-samples.tsx'
import { Supported } from '#components/layout/supported.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import type { BulkAction } from '#components/list/selection-bar.tsx'
import { useColumns } from '#components/list/use-columns.ts'
import { useListQuery } from '#components/list/use-list-query.ts'
import { useSheet } from '#components/list/use-sheet.ts'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import type { Secret } from '#lib/contract/secrets.ts'
import { secretMutations, secretQueries } from './queries.ts'
import { SecretSearchParams, secretMatchesSearch } from './search-params.ts'

const SecretDialog = dynamic(async () => (await import('./secret-dialog.tsx')).SecretDialog)
const SecretSheet = dynamic(async () => (await import('./secret-sheet.tsx')).SecretSheet)
const DeleteSecretDialog = dynamic(async () => (await import('./delete-secret-dialog.tsx')).DeleteSecretDialog)

const columnsFor = (onShow: (name: string) => void): Column<Secret>[] => [
  {
    accessorKey: 'name',
    id: 'name',
    header: 'Name',
    cell: ({ row: { original } }) => (
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => onShow(original.name)}
        className="block min-h-6 max-w-full truncate text-left font-mono hover:underline"
      >
        <VisibleText max={256}>{original.name}</VisibleText>
      </button>
    ),
    meta: { priority: 1 },
  },
  idColumn(),
  timeColumn('create_time_ms', 'Created'),
  timeColumn('update_time_ms', 'Updated'),
]

const source = {
  noun: 'secret',
  nouns: 'secrets',
  params: SecretSearchParams,
  path: paths.secrets,
  columns: columnsFor(() => undefined),
  queryOf: () => ({}),
  list: () => secretQueries.list(),
  arrange: (rows: readonly Secret[], { search }: SecretSearchParams) =>
    search ? rows.filter((row) => secretMatchesSearch(row, search)) : rows,
  filters: { search: 'ID or name contains …' },
}

type Shown = { dialog: 'create' } | { dialog: 'replace' | 'delete'; secret: Secret }

export const SecretList = ({ serviceUrl, savedColumns }: { serviceUrl: string; savedColumns: string }) => {
  const list = useListQuery(source)
  const sheet = useSheet('secret')
  const [shown, setShown] = useState<Shown>()
  const columns = useColumns(
    useMemo(() => columnsFor(sheet.show), [sheet.show]),
    list,
    'secretColumns',
    savedColumns,
  )
  const remove = useMutation(secretMutations.delete())
  const deleteSecrets: BulkAction<Secret> = {
    icon: Trash2,
    verb: 'Delete',
    needs: 'secrets.delete',
    done: 'Deleted',
    failed: "Couldn't delete every secret",
    consequence: (count) =>
      `Deletes ${count} with their values. Devboxes that use them will start without the variables.`,
    isDestructive: true,
    isEligible: () => true,
    act: ({ name }) => remove.mutateAsync(name),
  }
  const close = () => setShown(undefined)
  const create = (
    <Button variant="primary" icon={Plus} needs="secrets.create" onClick={() => setShown({ dialog: 'create' })}>
      Create secret
    </Button>
  )
  return (
    <Supported endpoint="secrets.list" title="Secrets" icon={KeyRound} error={list.query.error}>
      <ListPage
        title="Secrets"
        list={list}
        actions={create}
        bulk={[deleteSecrets]}
        filters={<FilterBar list={list} search="Search name or ID" />}
        tools={
          <ListMenus
            source={source}
            list={list}
            columns={columns}
            call={{ path: '/v1/secrets', method: 'secrets.list', rows: 'secrets' }}
            serviceUrl={serviceUrl}
          />
        }
        empty={
          <EmptyState
            icon={KeyRound}
            title="No secrets yet"
            action={create}
            sample={
              <CodeSample
                serviceUrl={serviceUrl}
                call={{
                  path: '/v1/secrets',
                  method: 'secrets.create',
                  body: { name: 'NPM_TOKEN', value: 'VALUE' },
                  result: 'secret',
                }}
              />
            }
          >
            A secret is a value that devboxes and benchmark jobs get as an environment variable. Secret values are
            write-only.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Secrets"
          columns={columns.shown}
          onResize={columns.resize}
          selection={{ ...list.selection, labelOf: ({ name }) => `Select ${name}` }}
          rowActions={(secret) => (
            <>
              <IconButton
                size="sm"
                icon={RotateCw}
                label={`Replace value of ${secret.name}`}
                needs="secrets.update"
                onClick={() => setShown({ dialog: 'replace', secret })}
              />
              <IconButton
                size="sm"
                icon={Trash2}
                label={`Delete ${secret.name}`}
                needs="secrets.delete"
                onClick={() => setShown({ dialog: 'delete', secret })}
              />
            </>
          )}
        />
      </ListPage>
      {sheet.id !== null && list.query.data && (
        <SecretSheet
          key={sheet.id}
          name={sheet.id}
          secret={list.loaded.find(({ name }) => name === sheet.id)}
          onReplace={(secret) => setShown({ dialog: 'replace', secret })}
          onDelete={(secret) => setShown({ dialog: 'delete', secret })}
          onClose={sheet.close}
        />
      )}
      {shown?.dialog === 'create' && <SecretDialog onClose={close} />}
      {shown?.dialog === 'replace' && <SecretDialog secret={shown.secret} onClose={close} />}
      {shown?.dialog === 'delete' && (
        <DeleteSecretDialog
          secret={shown.secret}
          onDeleted={() => sheet.id !== null && sheet.close()}
          onClose={close}
        />
      )}
    </Supported>
  )
}
