'use client'
import { type MutationOptions, type QueryKey, type UseQueryOptions, useMutation } from '@tanstack/react-query'
import type { LucideIcon } from 'lucide-react'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type ComponentType, useMemo, useState } from 'react'
import { CodeSample } from '#components/layout/code-samples.tsx'
import { Supported } from '#components/layout/supported.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, timeColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import type { ListOptions, ListSource } from '#components/list/list-source.ts'
import type { BulkAction } from '#components/list/selection-bar.tsx'
import { type ColumnsCookie, useColumns } from '#components/list/use-columns.ts'
import { useListQuery } from '#components/list/use-list-query.ts'
import { useSheet } from '#components/list/use-sheet.ts'
import { sheetColumn } from '#components/record/sheet-column.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import type { SampleCall } from '#lib/browser/api/code-samples.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import type { ConfigListQuery } from '#lib/contract/gateway-configs.ts'
import { authText } from './auth-text.ts'
import type { ConfigRecord } from './config-record.ts'
import type { ConfigSheet as LoadedSheet } from './config-sheet.tsx'
import { configMatches } from './queries.ts'
import { ConfigSearchParams, configQueryOf } from './search-params.ts'

// `dynamic` would lose the type parameters.
const ConfigSheet = dynamic(async () => (await import('./config-sheet.tsx')).ConfigSheet) as typeof LoadedSheet
const DeleteRecordDialog = dynamic(
  async () => (await import('#components/record/delete-record-dialog.tsx')).DeleteRecordDialog,
)

export interface ConfigKind<Config extends ConfigRecord, Page, PageParam> {
  noun: string
  nouns: string
  title: string
  icon: LucideIcon
  /** API resource, such as `gatewayConfigs`. */
  resource: 'gatewayConfigs' | 'mcpConfigs'
  apiPath: string
  path: (query: Partial<ConfigSearchParams>) => string
  cookie: ColumnsCookie
  list: (query: ConfigListQuery) => ListOptions<Page, PageParam, Config>
  get: (id: string) => UseQueryOptions<Config, Error, Config, QueryKey>
  // biome-ignore lint/suspicious/noExplicitAny: the result isn't used
  remove: () => MutationOptions<any, Error, string>
  columns: Column<Config>[]
  intro: string
  sample: SampleCall
  uses: (devbox: Devbox, id: string) => boolean
  Dialog: ComponentType<{ config: Config | undefined; onClose: () => void }>
}

interface ConfigListProps<Config extends ConfigRecord, Page, PageParam> {
  kind: ConfigKind<Config, Page, PageParam>
  serviceUrl: string
  savedColumns: string
}

type Shown<Config> = { dialog: 'edit'; config: Config | undefined } | { dialog: 'delete'; config: Config }

/** The page of gateways or of MCP servers. `kind` is a constant of its page. */
export const ConfigList = <
  Config extends ConfigRecord,
  Page extends { total_count?: number | null | undefined },
  PageParam,
>({
  kind,
  serviceUrl,
  savedColumns,
}: ConfigListProps<Config, Page, PageParam>) => {
  const { noun, nouns, Dialog } = kind
  const source = useMemo(() => sourceOf(kind), [kind])
  const list = useListQuery(source)
  const sheet = useSheet('config')
  const [shown, setShown] = useState<Shown<Config>>()
  const columns = useColumns(
    useMemo(() => columnsFor(sheet.show, kind.columns), [sheet.show, kind]),
    list,
    kind.cookie,
    savedColumns,
  )
  const remove = useMutation(kind.remove())
  const deleteConfigs: BulkAction<Config> = {
    icon: Trash2,
    verb: 'Delete',
    needs: `${kind.resource}.delete`,
    done: 'Deleted',
    failed: `Couldn't delete every ${noun}`,
    consequence: (count) => `Deletes ${count}. Requests from devboxes that use them will fail.`,
    isDestructive: true,
    isEligible: () => true,
    act: async ({ id }) => {
      await remove.mutateAsync(id)
      list.release()
    },
  }
  const close = () => setShown(undefined)
  const create = (
    <Button
      variant="primary"
      icon={Plus}
      needs={`${kind.resource}.create`}
      onClick={() => setShown({ dialog: 'edit', config: undefined })}
    >
      {`Create ${noun}`}
    </Button>
  )
  return (
    <Supported endpoint={`${kind.resource}.list`} title={kind.title} icon={kind.icon} error={list.query.error}>
      <ListPage
        title={kind.title}
        list={list}
        actions={create}
        bulk={[deleteConfigs]}
        filters={<FilterBar list={list} search="Search ID or name" />}
        tools={
          <ListMenus
            source={source}
            list={list}
            columns={columns}
            call={{ path: kind.apiPath, method: `${kind.resource}.list` }}
            serviceUrl={serviceUrl}
          />
        }
        empty={
          <EmptyState
            icon={kind.icon}
            title={`No ${nouns} yet`}
            action={create}
            sample={<CodeSample serviceUrl={serviceUrl} call={kind.sample} />}
          >
            {kind.intro}
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption={`${kind.title}, newest first`}
          columns={columns.shown}
          onResize={columns.resize}
          selection={{ ...list.selection, labelOf: ({ name }) => `Select ${name}` }}
          onNearEnd={list.onNearEnd}
          rowActions={(config) => (
            <>
              <IconButton
                size="sm"
                icon={Pencil}
                label={`Edit ${config.name}`}
                needs={`${kind.resource}.update`}
                onClick={() => setShown({ dialog: 'edit', config })}
              />
              <IconButton
                size="sm"
                icon={Trash2}
                label={`Delete ${config.name}`}
                needs={`${kind.resource}.delete`}
                onClick={() => setShown({ dialog: 'delete', config })}
              />
            </>
          )}
        />
      </ListPage>
      {sheet.id !== null && (
        <ConfigSheet
          key={sheet.id}
          noun={noun}
          resource={kind.resource}
          id={sheet.id}
          listed={list.loaded.find(({ id }) => id === sheet.id)}
          query={kind.get(sheet.id)}
          uses={kind.uses}
          onEdit={(config) => setShown({ dialog: 'edit', config })}
          onDelete={(config) => setShown({ dialog: 'delete', config })}
          onClose={sheet.close}
        />
      )}
      {shown?.dialog === 'edit' && <Dialog config={shown.config} onClose={close} />}
      {shown?.dialog === 'delete' && (
        <DeleteRecordDialog
          noun={noun}
          needs={`${kind.resource}.delete`}
          record={shown.config}
          consequence={`Requests from devboxes that use the ${noun} will fail.`}
          mutation={kind.remove()}
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

const sourceOf = <Config extends ConfigRecord, Page, PageParam>({
  noun,
  nouns,
  path,
  list,
}: ConfigKind<Config, Page, PageParam>): ListSource<ConfigSearchParams, ConfigListQuery, Page, PageParam, Config> => ({
  noun,
  nouns,
  params: ConfigSearchParams,
  path,
  queryOf: configQueryOf,
  list,
  matches: configMatches,
  filters: { search: 'ID or name contains …', name: 'name contains …', id: 'ID is …' },
})

const columnsFor = <Config extends ConfigRecord>(
  onShow: (id: string) => void,
  others: readonly Column<Config>[],
): Column<Config>[] => [
  sheetColumn(onShow),
  { accessorKey: 'endpoint', id: 'url', header: 'URL', meta: { priority: 2, mono: true } },
  {
    accessorFn: ({ auth_mechanism }) => authText(auth_mechanism),
    id: 'authentication',
    header: 'Authentication',
    meta: { priority: 4, width: '10rem', export: { auth_mechanism: ({ auth_mechanism }) => auth_mechanism } },
  },
  ...others,
  idColumn(),
  timeColumn('create_time_ms', 'Created'),
]
