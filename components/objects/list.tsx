'use client'
import { useMutation } from '@tanstack/react-query'
import { Box, Download, Package, Trash2, Upload } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useMemo, useState } from 'react'
import { CodeSample } from '#components/layout/code-samples.tsx'
import { Supported } from '#components/layout/supported.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { FilterSelect } from '#components/list/filter-fields.tsx'
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
import { formatBytes } from '#lib/browser/format.ts'
import type { ObjectListQuery, StoredObject } from '#lib/contract/objects.ts'
import { objectContentHref, objectMatches, objectMutations, objectQueries } from './queries.ts'
import { ObjectSearchParams, objectQueryOf } from './search-params.ts'
import { contentRefusal, contentTypeText, contentTypeWords, ObjectStateBadge, objectStateWords } from './state.tsx'

const UploadDialog = dynamic(async () => (await import('./upload-dialog.tsx')).UploadDialog)
const ObjectSheet = dynamic(async () => (await import('./object-sheet.tsx')).ObjectSheet)
const CreateDevboxDialog = dynamic(
  async () => (await import('#components/devboxes/create/create-devbox-dialog.tsx')).CreateDevboxDialog,
)
const DeleteRecordDialog = dynamic(
  async () => (await import('#components/record/delete-record-dialog.tsx')).DeleteRecordDialog,
)

const columnsFor = (params: ObjectSearchParams, onShow: (id: string) => void): Column<StoredObject>[] => [
  sheetColumn(onShow),
  {
    accessorKey: 'state',
    id: 'state',
    header: 'State',
    cell: ({ row }) => <ObjectStateBadge state={row.original.state} />,
    meta: { priority: 2, width: '8rem' },
  },
  {
    accessorKey: 'size_bytes',
    id: 'size',
    header: 'Size',
    cell: ({ getValue }) => getValue() != null && formatBytes(getValue()),
    meta: { priority: 2, align: 'right', width: '7rem' },
  },
  {
    accessorKey: 'content_type',
    id: 'type',
    header: 'Type',
    cell: ({ getValue }) => contentTypeText(getValue()),
    meta: { priority: 4, width: '10rem' },
  },
  idColumn(),
  metadataColumn(params, paths.objects),
  timeColumn('create_time_ms', 'Created'),
  timeColumn('delete_after_time_ms', 'Expires'),
]

const source = {
  noun: 'object',
  nouns: 'objects',
  params: ObjectSearchParams,
  path: paths.objects,
  columns: columnsFor({ limit: 20, include_total_count: true }, () => undefined),
  queryOf: objectQueryOf,
  list: (query: ObjectListQuery) => objectQueries.list(query),
  matches: objectMatches,
  filters: {
    search: 'ID or name contains …',
    name: 'name contains …',
    state: 'state is …',
    content_type: 'type is …',
  },
}

type Shown = { dialog: 'upload' } | { dialog: 'use' | 'delete'; object: StoredObject }

export const ObjectList = ({ serviceUrl, savedColumns }: { serviceUrl: string; savedColumns: string }) => {
  const list = useListQuery(source)
  const { params } = list
  const sheet = useSheet('object')
  const [shown, setShown] = useState<Shown>()
  const columns = useColumns(
    useMemo(() => columnsFor(params, sheet.show), [params, sheet.show]),
    list,
    'objectColumns',
    savedColumns,
  )
  const remove = useMutation(objectMutations.delete())
  const deleteObjects: BulkAction<StoredObject> = {
    icon: Trash2,
    verb: 'Delete',
    needs: 'objects.delete',
    done: 'Deleted',
    failed: "Couldn't delete every object",
    consequence: (count) => `Deletes ${count} with their content. Devboxes keep their mounted copies.`,
    isDestructive: true,
    isEligible: ({ state }) => state !== 'DELETED',
    act: async ({ id }) => {
      await remove.mutateAsync(id)
      list.release()
    },
  }
  const close = () => setShown(undefined)
  const upload = (
    <Button variant="primary" icon={Upload} needs="objects.create" onClick={() => setShown({ dialog: 'upload' })}>
      Upload object
    </Button>
  )
  return (
    <Supported endpoint="objects.list" title="Objects" icon={Package} error={list.query.error}>
      <ListPage
        title="Objects"
        list={list}
        actions={upload}
        bulk={[deleteObjects]}
        filters={
          <FilterBar list={list} search="Search ID or name" metadata={{ keys: objectQueries.metadataKeys() }}>
            <FilterSelect
              label="State"
              any="Any state"
              value={params.state}
              words={objectStateWords}
              onFilter={(state) => list.filter({ state }, 'push')}
            />
            <FilterSelect
              label="Type"
              any="Any type"
              value={params.content_type}
              words={contentTypeWords}
              onFilter={(content_type) => list.filter({ content_type }, 'push')}
            />
          </FilterBar>
        }
        tools={
          <ListMenus
            source={source}
            list={list}
            columns={columns}
            call={{ path: '/v1/objects', method: 'objects.list' }}
            metadataKeys={objectQueries.metadataKeys()}
            serviceUrl={serviceUrl}
          />
        }
        empty={
          <EmptyState
            icon={Package}
            title="No objects yet"
            action={upload}
            sample={
              <CodeSample
                serviceUrl={serviceUrl}
                call={{
                  path: '/v1/objects',
                  method: 'objects.create',
                  body: { name: 'data.tgz', content_type: 'tgz' },
                  result: 'object',
                }}
              />
            }
          >
            An object is a file that can be mounted in devboxes, such as a dataset or an archive of sources.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Objects"
          columns={columns.shown}
          onResize={columns.resize}
          selection={{ ...list.selection, labelOf: ({ name }) => `Select ${name}` }}
          onNearEnd={list.onNearEnd}
          rowActions={(object) => (
            <>
              <IconButton
                size="sm"
                icon={Download}
                label={`Download ${object.name}`}
                disabledReason={contentRefusal(object)}
                onClick={() => location.assign(objectContentHref(object.id))}
              />
              <IconButton
                size="sm"
                icon={Box}
                label={`Create devbox with ${object.name}`}
                needs="devboxes.create"
                disabledReason={contentRefusal(object)}
                onClick={() => setShown({ dialog: 'use', object })}
              />
              <IconButton
                size="sm"
                icon={Trash2}
                label={`Delete ${object.name}`}
                needs="objects.delete"
                onClick={() => setShown({ dialog: 'delete', object })}
              />
            </>
          )}
        />
      </ListPage>
      {sheet.id !== null && (
        <ObjectSheet
          key={sheet.id}
          id={sheet.id}
          listed={list.loaded.find(({ id }) => id === sheet.id)}
          onUse={(object) => setShown({ dialog: 'use', object })}
          onDelete={(object) => setShown({ dialog: 'delete', object })}
          onClose={sheet.close}
        />
      )}
      {shown?.dialog === 'upload' && <UploadDialog onClose={close} />}
      {shown?.dialog === 'use' && (
        <CreateDevboxDialog
          open
          mount={{ type: 'object_mount', id: shown.object.id, path: `~/${shown.object.name.replace(/^.*\//s, '')}` }}
          onOpenChange={close}
        />
      )}
      {shown?.dialog === 'delete' && (
        <DeleteRecordDialog
          noun="object"
          needs="objects.delete"
          record={shown.object}
          consequence="Deletes its content. Devboxes keep their mounted copies."
          mutation={objectMutations.delete()}
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
