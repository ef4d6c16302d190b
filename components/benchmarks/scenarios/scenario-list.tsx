'use client'
import { FlaskConical } from 'lucide-react'
import { useMemo } from 'react'
import type * as z from 'zod/mini'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { FilterSelect } from '#components/filters/filter-select.tsx'
import { chosenColumns } from '#components/list/chosen-columns.tsx'
import type { Column } from '#components/list/column.ts'
import { idColumn, metadataColumn, nameColumn } from '#components/list/columns.tsx'
import { DataTable } from '#components/list/data-table.tsx'
import { ListMenus } from '#components/list/list-menus.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { type DrawnColumns, useColumns } from '#components/list/use-columns.ts'
import { useListPage } from '#components/list/use-list-page.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { scenarioColumns } from '#lib/browser/address/columns/scenario-columns.ts'
import { withColumns, withoutColumns } from '#lib/browser/address/list-columns.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { scenarioMatches } from '#lib/browser/lists/row-filters.ts'
import { type Scenario, type ScenarioList, ScenarioListQuery, type validationTypes } from '#lib/contract/scenarios.ts'
import { DefinitionState } from './definition-state.tsx'
import { scenarioQueries } from './queries.ts'
import { verifierKinds } from './scorer.ts'

const ScenarioListView = withColumns(ScenarioListQuery)
type ScenarioListView = z.output<typeof ScenarioListView>

const source = {
  noun: 'scenario',
  nouns: 'scenarios',
  schema: ScenarioListView,
  path: paths.scenarios,
  filters: {
    search: 'id or name contains …',
    name: 'name contains …',
    benchmark_id: 'benchmark is …',
    validation_type: 'validation is …',
  },
  pages: (view: ScenarioListView) => scenarioQueries.list(withoutColumns(view)),
  rowsOf: ({ scenarios }: ScenarioList) => scenarios,
  matches: (view: ScenarioListView) => scenarioMatches(withoutColumns(view)),
} as const

const fields = async () => (await import('./scenario-fields.ts')).scenarioFields

interface ScenarioListPageProps {
  serviceUrl: string
  drawnColumns: DrawnColumns
}

export const ScenarioListPage = ({ serviceUrl, drawnColumns }: ScenarioListPageProps) => {
  const page = useListPage(source)
  const { view, narrow } = page
  const columns = useColumns(scenarioColumns, page, drawnColumns)
  const shownColumns = useMemo(
    () => chosenColumns(columns.choices, scenarioColumns, columnsFor(view)),
    [columns.choices, view],
  )
  return (
    <ListPage
      title="Scenarios"
      page={page}
      filterBar={
        <FilterBar
          page={page}
          search="Search id or name"
          metadata={{ keys: scenarioQueries.metadataKeys(), values: (key) => scenarioQueries.metadataValues(key) }}
        >
          <FilterSelect
            label="Validation"
            any="Any validation"
            value={view.validation_type}
            words={validationWords}
            onFilter={(validation_type) => narrow({ validation_type }, 'push')}
          />
        </FilterBar>
      }
      columns={5}
      tools={
        <ListMenus
          source={source}
          page={page}
          columns={columns}
          metadataKeys={scenarioQueries.metadataKeys()}
          fields={fields}
          serviceUrl={serviceUrl}
        />
      }
      none={
        <EmptyState
          icon={FlaskConical}
          title="No scenarios yet"
          action={<ButtonLink href={paths.benchmarkJobs()}>Benchmark jobs</ButtonLink>}
        >
          {
            'A scenario is what an agent is asked to do and how that is judged. Scripts create them with POST /v1/scenarios. Tasks of job files are in no list: the page of a job leads to theirs.'
          }
        </EmptyState>
      }
    >
      <DataTable
        {...page.table}
        caption="Scenarios, newest first"
        columns={shownColumns}
        onResize={columns.onResize}
        rowHref={({ id }) => paths.scenario(id)}
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

const columnsFor = (query: ScenarioListQuery): Column<Scenario>[] => [
  nameColumn(),
  {
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
    meta: { priority: 2, width: '14rem' },
  },
  {
    id: 'status',
    header: 'Status',
    cell: ({ row }) => <DefinitionState status={row.original.status} />,
    meta: { priority: 3, width: '7rem' },
  },
  metadataColumn(query, paths.scenarios),
  idColumn(),
]
