'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Bot, Box, Plus, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useMemo, useState } from 'react'
import { CodeSample } from '#components/layout/code-samples.tsx'
import { Supported } from '#components/layout/supported.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, timeColumn } from '#components/list/columns.tsx'
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
import { useSupport } from '#components/settings/support-queries.ts'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount } from '#lib/browser/format.ts'
import type { Agent } from '#lib/contract/agents.ts'
import { deleteRefusal } from './delete-refusal.ts'
import { agentMatches, agentMutations, agentQueries } from './queries.ts'
import { AgentSearchParams, agentQueryOf, type ScopedAgentQuery } from './search-params.ts'
import { sourceText } from './source.ts'

const AgentDialog = dynamic(async () => (await import('./agent-dialog.tsx')).AgentDialog)
const AgentSheet = dynamic(async () => (await import('./agent-sheet.tsx')).AgentSheet)
const CreateDevboxDialog = dynamic(
  async () => (await import('#components/devboxes/create/create-devbox-dialog.tsx')).CreateDevboxDialog,
)
const DeleteRecordDialog = dynamic(
  async () => (await import('#components/record/delete-record-dialog.tsx')).DeleteRecordDialog,
)

const columnsFor = (
  onShow: (id: string) => void,
  counts: Readonly<Record<string, number>> | undefined,
): Column<Agent>[] => [
  sheetColumn(onShow),
  {
    accessorKey: 'version',
    id: 'version',
    header: 'Version',
    cell: ({ getValue }) => <VisibleText max={80}>{getValue() ?? ''}</VisibleText>,
    meta: { priority: 2, mono: true, width: '8rem' },
  },
  {
    accessorFn: ({ source }) => sourceText(source),
    id: 'source',
    header: 'Source',
    meta: { priority: 3, mono: true, export: { source: ({ source }) => source } },
  },
  {
    accessorFn: ({ name }) => counts && (counts[name] ?? 0),
    id: 'devboxes',
    header: 'Devboxes',
    // The table caches the accessor's value, which arrives after the rows.
    cell: ({ row }) => <DevboxCount name={row.original.name} />,
    meta: { priority: 3, align: 'right', width: '7rem', title: 'Devboxes with an agent of this name' },
  },
  idColumn(),
  timeColumn('create_time_ms', 'Created'),
]

const DevboxCount = ({ name }: Pick<Agent, 'name'>) => {
  const { data } = useQuery(agentQueries.devboxCounts())
  return data && formatCount(data[name] ?? 0)
}

const source = {
  noun: 'agent',
  nouns: 'agents',
  params: AgentSearchParams,
  path: paths.agents,
  queryOf: agentQueryOf,
  list: (query: ScopedAgentQuery) => agentQueries.list(query),
  matches: agentMatches,
  filters: {
    scope: 'public agents',
    search: 'ID or name contains …',
    name: 'name contains …',
    version: (version: string) => (version === 'latest' ? 'newest of each name' : `version is ${version}`),
  },
}

type Shown = { dialog: 'create' } | { dialog: 'use' | 'delete'; agent: Agent }

export const AgentList = ({ serviceUrl, savedColumns }: { serviceUrl: string; savedColumns: string }) => {
  const sheet = useSheet('agent')
  const [shown, setShown] = useState<Shown>()
  const { data: counts } = useQuery(agentQueries.devboxCounts())
  const allColumns = useMemo(() => columnsFor(sheet.show, counts), [sheet.show, counts])
  const list = useListQuery(source, allColumns)
  const { params } = list
  const columns = useColumns(allColumns, list, 'agentColumns', savedColumns)
  const hasPublic = useSupport('agents.listPublic') !== 'no'
  const remove = useMutation(agentMutations.delete())
  const deleteAgents: BulkAction<Agent> = {
    icon: Trash2,
    verb: 'Delete',
    needs: 'agents.delete',
    done: 'Deleted',
    failed: "Couldn't delete every agent",
    consequence: (count) => `Deletes ${count}. Devboxes keep agents that are already installed.`,
    isDestructive: true,
    isEligible: (agent) => deleteRefusal(agent) === null,
    act: async ({ id }) => {
      await remove.mutateAsync(id)
      list.release()
    },
  }
  const close = () => setShown(undefined)
  const create = (
    <Button variant="primary" icon={Plus} needs="agents.create" onClick={() => setShown({ dialog: 'create' })}>
      Create agent
    </Button>
  )
  return (
    <Supported endpoint="agents.list" title="Agents" icon={Bot} error={params.scope ? null : list.query.error}>
      <ListPage
        title="Agents"
        list={list}
        actions={create}
        bulk={[deleteAgents]}
        filters={
          <FilterBar list={list} search="Search ID or name">
            {hasPublic && (
              <FilterSelect
                label="Owner"
                any="This account"
                value={params.scope}
                words={{ public: 'Public' }}
                onFilter={(scope) => list.filter({ scope }, 'push')}
              />
            )}
            <FilterSelect
              label="Versions"
              any="All versions"
              value={params.version === 'latest' ? 'latest' : undefined}
              words={{ latest: 'Newest of each name' }}
              onFilter={(version) => list.filter({ version }, 'push')}
            />
          </FilterBar>
        }
        tools={
          <ListMenus
            source={source}
            list={list}
            columns={columns}
            call={{
              path: params.scope ? '/v1/agents/list_public' : '/v1/agents',
              method: params.scope ? 'agents.listPublic' : 'agents.list',
            }}
            serviceUrl={serviceUrl}
          />
        }
        empty={
          <EmptyState
            icon={Bot}
            title="No agents yet"
            action={create}
            sample={
              <CodeSample
                serviceUrl={serviceUrl}
                call={{
                  path: '/v1/agents',
                  method: 'agents.create',
                  body: { name: 'reviewer', source: { type: 'npm', npm: { package_name: '@acme/agent' } } },
                  result: 'agent',
                }}
              />
            }
          >
            An agent is software from npm, pip, Git or an object that is installed in devboxes that mount it.
          </EmptyState>
        }
      >
        <DataTable
          {...list.table}
          caption="Agents"
          columns={columns.shown}
          onResize={columns.resize}
          selection={{ ...list.selection, labelOf: ({ name }) => `Select ${name}` }}
          onNearEnd={list.onNearEnd}
          rowActions={(agent) => (
            <>
              <IconButton
                size="sm"
                icon={Box}
                label={`Create devbox with ${agent.name}`}
                needs="devboxes.create"
                onClick={() => setShown({ dialog: 'use', agent })}
              />
              <IconButton
                size="sm"
                icon={Trash2}
                label={`Delete ${agent.name}`}
                needs="agents.delete"
                disabledReason={deleteRefusal(agent)}
                onClick={() => setShown({ dialog: 'delete', agent })}
              />
            </>
          )}
        />
      </ListPage>
      {sheet.id !== null && (
        <AgentSheet
          key={sheet.id}
          id={sheet.id}
          listed={list.loaded.find(({ id }) => id === sheet.id)}
          onUse={(agent) => setShown({ dialog: 'use', agent })}
          onDelete={(agent) => setShown({ dialog: 'delete', agent })}
          onClose={sheet.close}
        />
      )}
      {shown?.dialog === 'create' && <AgentDialog onClose={close} />}
      {shown?.dialog === 'use' && (
        <CreateDevboxDialog open mount={{ type: 'agent_mount', id: shown.agent.id, path: '' }} onOpenChange={close} />
      )}
      {shown?.dialog === 'delete' && (
        <DeleteRecordDialog
          noun="agent"
          needs="agents.delete"
          record={shown.agent}
          consequence="Devboxes that have it installed keep it. New ones can't mount it."
          mutation={agentMutations.delete()}
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
