'use client'
import { FlaskConical } from 'lucide-react'
import { useMemo } from 'react'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { FilterBar } from '#components/list/filter-bar.tsx'
import { FilterSelect } from '#components/list/filter-fields.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useColumns } from '#components/list/use-columns.ts'
import { useListQuery } from '#components/list/use-list-query.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { scenarioMatches } from '#lib/browser/lists/row-filters.ts'
import type { Scenario, ScenarioListQuery, validationTypes } from '#lib/contract/scenarios.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { scenarioQueries } from './queries.ts'
import { verifierKinds } from './scorer.ts'
import { ScenarioSearchParams, scenarioQueryOf } from './search-params.ts'

const columnsFor = (params: ScenarioSearchParams): Column<Scenario>[] => [
  nameColumn(),
  {
    accessorFn: (scenario) => verifierKinds(scenario).join(', ') || undefined,
    id: 'verifier',
    header: 'Verifier',
    cell: ({ row: { original: scenario } }) => {
      const kinds = verifierKinds(scenario)
      return kinds.length === 0 ? (
        <span className="text-muted">None</span>
      ) : (
        <VisibleText truncate>{kinds.join(', ')}</VisibleText>
      )
    },
    meta: { priority: 2, width: '14rem', export: { scorers: (scenario) => verifierKinds(scenario).join(', ') } },
  },
  {
    accessorKey: 'status',
    id: 'status',
    header: 'Status',
    cell: ({ row }) => <BenchmarkState of="definition" state={row.original.status} />,
    meta: { priority: 3, width: '7rem' },
  },
  metadataColumn(params, paths.scenarios),
  idColumn(),
]

const source = {
  noun: 'scenario',
  nouns: 'scenarios',
  params: ScenarioSearchParams,
  path: paths.scenarios,
  endpoint: 'scenarios.list',
  columns: columnsFor({ limit: 20, include_total_count: true }),
  queryOf: scenarioQueryOf,
  list: (query: ScenarioListQuery) => scenarioQueries.list(query),
  matches: scenarioMatches,
  filters: {
    search: 'ID or name contains …',
    name: 'name contains …',
    benchmark_id: 'benchmark is …',
    validation_type: 'validation is …',
  },
}

interface ScenarioListPageProps {
  serviceUrl: string
  savedColumns: string
}

export const ScenarioListPage = ({ serviceUrl, savedColumns }: ScenarioListPageProps) => {
  const list = useListQuery(source)
  const { params } = list
  const columns = useColumns(
    useMemo(() => columnsFor(params), [params]),
    list,
    'scenarioColumns',
    savedColumns,
  )
  return (
    <ListPage
      title="Scenarios"
      list={list}
      filters={
        <FilterBar list={list} search="Search ID or name" metadata={scenarioQueries.metadata}>
          <FilterSelect
            label="Validation"
            any="Any validation"
            value={params.validation_type}
            words={validationWords}
            onFilter={(validation_type) => list.filter({ validation_type }, 'push')}
          />
        </FilterBar>
      }
      tools={
        <ListMenus
          source={source}
          list={list}
          columns={columns}
          call={{ path: '/v1/scenarios', method: 'scenarios.list' }}
          metadataKeys={scenarioQueries.metadata.keys}
          serviceUrl={serviceUrl}
        />
      }
      empty={
        <EmptyState
          icon={FlaskConical}
          title="No scenarios yet"
          action={<ButtonLink href={paths.benchmarkJobs()}>Benchmark jobs</ButtonLink>}
        >
          A scenario is a task for an agent and how its result is scored. Scripts create scenarios with POST
          /v1/scenarios. Tasks of job files are listed on the page of their job.
        </EmptyState>
      }
    >
      <DataTable
        {...list.table}
        caption="Scenarios"
        columns={columns.shown}
        onResize={columns.resize}
        rowHref={({ id }) => paths.scenario(id)}
        onNearEnd={list.onNearEnd}
      />
    </ListPage>
  )
}

const validationWords: Record<(typeof validationTypes)[number], string> = {
  UNSPECIFIED: 'Unspecified',
  FORWARD: 'Forward',
  REVERSE: 'Reverse',
  EVALUATION: 'Evaluation',
}
