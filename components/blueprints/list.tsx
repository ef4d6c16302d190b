'use client'
import { useMutation } from '@tanstack/react-query'
import { Box, DraftingCompass, Plus, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useMemo, useState } from 'react'
import { CodeSample } from '#components/layout/code-samples.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { FilterSelect } from '#components/list/filter-fields.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import type { BulkAction } from '#components/list/selection-bar.tsx'
import { useColumns } from '#components/list/use-columns.ts'
import { useListQuery } from '#components/list/use-list-query.ts'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { isUnsupported } from '#lib/browser/api/failures.ts'
import { blueprintMatches } from '#lib/browser/lists/row-filters.ts'
import { serviceNow } from '#lib/client/clock.ts'
import type { Blueprint, BlueprintListQuery } from '#lib/contract/blueprints.ts'
import { BaseText, baseOf } from './base.tsx'
import { blueprintMutations, blueprintQueries } from './queries.ts'
import { BlueprintSearchParams, blueprintQueryOf } from './search-params.ts'
import {
  BlueprintStatusBadge,
  BuildTime,
  blueprintStatusWords,
  buildMs,
  deleteRefusal,
  newDevboxRefusal,
} from './status.tsx'

const CreateDevboxDialog = dynamic(
  async () => (await import('#components/devboxes/create/create-devbox-dialog.tsx')).CreateDevboxDialog,
)
const CreateBlueprintDialog = dynamic(
  async () => (await import('./create/create-blueprint-dialog.tsx')).CreateBlueprintDialog,
)
const DeleteBlueprintDialog = dynamic(async () => (await import('./delete-blueprint-dialog.tsx')).DeleteBlueprintDialog)

const columnsFor = (params: BlueprintSearchParams): Column<Blueprint>[] => [
  nameColumn(),
  {
    accessorKey: 'status',
    id: 'status',
    header: 'Status',
    cell: ({ row }) => <BlueprintStatusBadge blueprint={row.original} />,
    meta: { priority: 2, width: '9rem' },
  },
  idColumn(),
  {
    accessorFn: baseOf,
    id: 'base',
    header: 'Base',
    cell: ({ row }) => <BaseText blueprint={row.original} inRow />,
    meta: { priority: 5, width: '11rem' },
  },
  metadataColumn(params, paths.blueprints),
  {
    accessorFn: (blueprint) => buildMs(blueprint, serviceNow()),
    id: 'build-time',
    header: 'Build time',
    cell: ({ row }) => <BuildTime blueprint={row.original} />,
    meta: {
      priority: 3,
      align: 'right',
      width: '7rem',
      export: { build_ms: (blueprint) => buildMs(blueprint, serviceNow()) },
    },
  },
  timeColumn('create_time_ms', 'Created'),
]

const source = {
  noun: 'blueprint',
  nouns: 'blueprints',
  params: BlueprintSearchParams,
  path: paths.blueprints,
  endpoint: 'blueprints.list',
  columns: columnsFor({ limit: 20, include_total_count: true }),
  queryOf: blueprintQueryOf,
  list: (query: BlueprintListQuery) => blueprintQueries.list(query),
  matches: blueprintMatches,
  filters: {
    name: 'name is …',
    search: 'ID or name contains …',
    status: 'status is …',
  },
}

interface BlueprintListProps {
  serviceUrl: string
  savedColumns: string
}

export const BlueprintList = ({ serviceUrl, savedColumns }: BlueprintListProps) => {
  const list = useListQuery(source)
  const { params } = list
  // Undefined until the dialog is first opened; after that it stays mounted and keeps what was typed.
  const [isCreating, setIsCreating] = useState<boolean>()
  const [starting, setStarting] = useState<Blueprint>()
  const [deleting, setDeleting] = useState<Blueprint>()
  const columns = useColumns(
    useMemo(() => columnsFor(params), [params]),
    list,
    'blueprintColumns',
    savedColumns,
  )
  const remove = useMutation(blueprintMutations.delete())
  const deleteBlueprints: BulkAction<Blueprint> = {
    icon: Trash2,
    verb: 'Delete',
    needs: 'blueprints.delete',
    done: 'Deleted',
    failed: "Couldn't delete every blueprint",
    consequence: (count) => `Deletes ${count}. Blueprints that others or running devboxes depend on are kept.`,
    isDestructive: true,
    isEligible: (blueprint) => deleteRefusal(blueprint) === null,
    act: async ({ id }) => {
      await remove.mutateAsync(id)
      list.release()
    },
  }
  if (isUnsupported(list.query.error) && !params.starting_after)
    return (
      <>
        <PageHeader title="Blueprints" />
        <EmptyState icon={DraftingCompass} title="This service has no blueprints">
          It doesn't implement them. Devboxes start from an empty disk or from a snapshot.
        </EmptyState>
      </>
    )
  const create = (
    <Button variant="primary" icon={Plus} needs="blueprints.create" onClick={() => setIsCreating(true)}>
      Create blueprint
    </Button>
  )
  return (
    <>
      <ListPage
        title="Blueprints"
        list={list}
        actions={create}
        bulk={[deleteBlueprints]}
        filters={
          <FilterBar list={list} search="Search ID or name" metadata={{ keys: blueprintQueries.metadataKeys() }}>
            <FilterSelect
              label="Status"
              any="Any status"
              value={params.status}
              words={blueprintStatusWords}
              onFilter={(status) => list.filter({ status }, 'push')}
            />
          </FilterBar>
        }
        tools={
          <ListMenus
            source={source}
            list={list}
            columns={columns}
            call={{ path: '/v1/blueprints', method: 'blueprints.list' }}
            metadataKeys={blueprintQueries.metadataKeys()}
            serviceUrl={serviceUrl}
          />
        }
        empty={
          <EmptyState
            icon={DraftingCompass}
            title="No blueprints yet"
            action={create}
            sample={
              <CodeSample
                serviceUrl={serviceUrl}
                call={{
                  path: '/v1/blueprints',
                  method: 'blueprints.create',
                  body: { name: 'with-tools', system_setup_commands: ['git --version'] },
                  result: 'blueprint',
                }}
              />
            }
          >
            A blueprint is a disk image built once from a Dockerfile or from commands. Devboxes created from it start
            with everything installed.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Blueprints"
          columns={columns.shown}
          onResize={columns.resize}
          rowHref={({ id }) => paths.blueprint(id)}
          selection={{ ...list.selection, labelOf: ({ name }) => `Select ${name}` }}
          onNearEnd={list.onNearEnd}
          rowActions={(blueprint) => (
            <>
              <IconButton
                size="sm"
                icon={Box}
                label={`Create devbox from ${blueprint.name}`}
                needs="devboxes.create"
                disabledReason={newDevboxRefusal(blueprint)}
                onClick={() => setStarting(blueprint)}
              />
              <IconButton
                size="sm"
                icon={Trash2}
                label={`Delete ${blueprint.name}`}
                needs="blueprints.delete"
                disabledReason={deleteRefusal(blueprint)}
                onClick={() => setDeleting(blueprint)}
              />
            </>
          )}
        />
      </ListPage>
      {isCreating !== undefined && <CreateBlueprintDialog open={isCreating} onOpenChange={setIsCreating} />}
      {starting && <CreateDevboxDialog open blueprint={starting} onOpenChange={() => setStarting(undefined)} />}
      {deleting && (
        <DeleteBlueprintDialog blueprint={deleting} onDeleted={list.release} onClose={() => setDeleting(undefined)} />
      )}
    </>
  )
}
