'use client'
import { useMutation } from '@tanstack/react-query'
import { Pencil, Plus, ShieldCheck, Trash2 } from 'lucide-react'
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
import { sheetColumn } from '#components/record/sheet-column.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import type { NetworkPolicy, NetworkPolicyListQuery } from '#lib/contract/network-policies.ts'
import { policyMatches, policyMutations, policyQueries } from './queries.ts'
import { egressText } from './rules.ts'
import { PolicySearchParams, policyQueryOf } from './search-params.ts'

const PolicyDialog = dynamic(async () => (await import('./policy-dialog.tsx')).PolicyDialog)
const PolicySheet = dynamic(async () => (await import('./policy-sheet.tsx')).PolicySheet)
const DeleteRecordDialog = dynamic(
  async () => (await import('#components/record/delete-record-dialog.tsx')).DeleteRecordDialog,
)

const columnsFor = (onShow: (id: string) => void): Column<NetworkPolicy>[] => [
  sheetColumn(onShow),
  {
    accessorFn: ({ egress }) => egressText(egress),
    id: 'allows',
    header: 'Allows',
    meta: { priority: 2, export: { egress: ({ egress }) => egress } },
  },
  idColumn(),
  timeColumn('create_time_ms', 'Created'),
  timeColumn('update_time_ms', 'Updated'),
]

const source = {
  noun: 'network policy',
  nouns: 'network policies',
  params: PolicySearchParams,
  path: paths.networkPolicies,
  columns: columnsFor(() => undefined),
  queryOf: policyQueryOf,
  list: (query: NetworkPolicyListQuery) => policyQueries.list(query),
  matches: policyMatches,
  filters: { search: 'ID or name contains …', name: 'name contains …', id: 'ID is …' },
}

type Shown = { dialog: 'create' } | { dialog: 'edit' | 'delete'; policy: NetworkPolicy }

export const NetworkPolicyList = ({ serviceUrl, savedColumns }: { serviceUrl: string; savedColumns: string }) => {
  const list = useListQuery(source)
  const sheet = useSheet('policy')
  const [shown, setShown] = useState<Shown>()
  const columns = useColumns(
    useMemo(() => columnsFor(sheet.show), [sheet.show]),
    list,
    'policyColumns',
    savedColumns,
  )
  const remove = useMutation(policyMutations.delete())
  const deletePolicies: BulkAction<NetworkPolicy> = {
    icon: Trash2,
    verb: 'Delete',
    needs: 'networkPolicies.delete',
    done: 'Deleted',
    failed: "Couldn't delete every network policy",
    consequence: (count) => `Deletes ${count}. Policies in use by a devbox are kept.`,
    isDestructive: true,
    isEligible: () => true,
    act: async ({ id }) => {
      await remove.mutateAsync(id)
      list.release()
    },
  }
  const close = () => setShown(undefined)
  const create = (
    <Button variant="primary" icon={Plus} needs="networkPolicies.create" onClick={() => setShown({ dialog: 'create' })}>
      Create network policy
    </Button>
  )
  return (
    <Supported endpoint="networkPolicies.list" title="Network policies" icon={ShieldCheck} error={list.query.error}>
      <ListPage
        title="Network policies"
        list={list}
        actions={create}
        bulk={[deletePolicies]}
        filters={<FilterBar list={list} search="Search ID or name" />}
        tools={
          <ListMenus
            source={source}
            list={list}
            columns={columns}
            call={{ path: '/v1/network-policies', method: 'networkPolicies.list' }}
            serviceUrl={serviceUrl}
          />
        }
        empty={
          <EmptyState
            icon={ShieldCheck}
            title="No network policies yet"
            action={create}
            sample={
              <CodeSample
                serviceUrl={serviceUrl}
                call={{
                  path: '/v1/network-policies',
                  method: 'networkPolicies.create',
                  body: { name: 'registries-only', allowed_hostnames: ['github.com', '*.npmjs.org'] },
                  result: 'policy',
                }}
              />
            }
          >
            A network policy limits what devboxes can connect to. Select it when you create a devbox or a blueprint.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Network policies"
          columns={columns.shown}
          onResize={columns.resize}
          selection={{ ...list.selection, labelOf: ({ name }) => `Select ${name}` }}
          onNearEnd={list.onNearEnd}
          rowActions={(policy) => (
            <>
              <IconButton
                size="sm"
                icon={Pencil}
                label={`Edit ${policy.name}`}
                needs="networkPolicies.update"
                onClick={() => setShown({ dialog: 'edit', policy })}
              />
              <IconButton
                size="sm"
                icon={Trash2}
                label={`Delete ${policy.name}`}
                needs="networkPolicies.delete"
                onClick={() => setShown({ dialog: 'delete', policy })}
              />
            </>
          )}
        />
      </ListPage>
      {sheet.id !== null && (
        <PolicySheet
          key={sheet.id}
          id={sheet.id}
          listed={list.loaded.find(({ id }) => id === sheet.id)}
          onEdit={(policy) => setShown({ dialog: 'edit', policy })}
          onDelete={(policy) => setShown({ dialog: 'delete', policy })}
          onClose={sheet.close}
        />
      )}
      {shown?.dialog === 'create' && <PolicyDialog onClose={close} />}
      {shown?.dialog === 'edit' && <PolicyDialog policy={shown.policy} onClose={close} />}
      {shown?.dialog === 'delete' && (
        <DeleteRecordDialog
          noun="network policy"
          needs="networkPolicies.delete"
          record={shown.policy}
          consequence="A policy in use by a devbox can't be deleted. Blueprints that name it can no longer be built."
          mutation={policyMutations.delete()}
          onDeleted={() => {
            list.release()
            if (sheet.id !== null) sheet.close()
          }}
          onClose={close}
        />
      )}
    </Supported>
  )
}
