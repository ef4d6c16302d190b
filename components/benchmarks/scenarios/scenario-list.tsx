'use client'
import { FlaskConical } from 'lucide-react'
import { FilterBar } from '#components/filters/filter-bar.tsx'
import { FilterSelect } from '#components/filters/filter-select.tsx'
import { idColumn, metadataColumn, nameColumn } from '#components/list/columns.tsx'
import { ListPage } from '#components/list/list-page.tsx'
import { useListPage } from '#components/list/use-list-page.ts'
import { ButtonLink } from '#components/ui/button.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { scenarioQueries } from '#lib/console/queries/scenarios.ts'
import { type Scenario, type ScenarioList, ScenarioListQuery, type validationTypes } from '#lib/contract/scenarios.ts'
import { DefinitionState } from './definition-state.tsx'
import { scorerWords } from './scorer-words.ts'

const source = {
  noun: 'scenario',
  nouns: 'scenarios',
  schema: ScenarioListQuery,
  path: paths.scenarios,
  filters: {
    search: 'id or name contains …',
    name: 'name contains …',
    benchmark_id: 'benchmark is …',
    validation_type: 'validation is …',
  },
  pages: (query: ScenarioListQuery) => scenarioQueries.list(query),
  rowsOf: ({ scenarios }: ScenarioList) => scenarios,
}

export const ScenarioListPage = () => {
  const page = useListPage(source)
  const { view, narrow } = page
  return (
    <ListPage
      title="Scenarios"
      page={page}
      filterBar={
        <FilterBar
          page={page}
          search={{ value: view.search, onFilter: (search) => narrow({ search }, 'type') }}
          metadata={{ keys: scenarioQueries.metadataKeys(), values: (key) => scenarioQueries.metadataValues(key) }}
        >
          <FilterSelect
            label="Validation"
            value={view.validation_type}
            words={validationWords}
            onFilter={(validation_type) => narrow({ validation_type }, 'push')}
          />
        </FilterBar>
      }
      columns={5}
      none={
        <EmptyState
          icon={FlaskConical}
          title="No scenarios yet"
          action={<ButtonLink href={paths.benchmarkJobs()}>Benchmark jobs</ButtonLink>}
        >
          A scenario is what an agent is asked to do and how that is judged. Scripts create them with POST
          /v1/scenarios. Tasks of job files are in no list: the page of a job leads to theirs.
        </EmptyState>
      }
    >
      <DataTable
        {...page.table}
        caption="Scenarios, newest first"
        columns={columnsFor(view)}
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
  nameColumn,
  {
    id: 'verifier',
    header: 'Verifier',
    priority: 2,
    width: '14rem',
    cell: ({ scoring_contract }) => {
      const kinds = [
        ...new Set(scoring_contract.scoring_function_parameters.map(({ scorer }) => scorerWords(scorer).kind)),
      ]
      return kinds.length === 0 ? (
        <span className="text-muted">None</span>
      ) : (
        <VisibleText truncate>{kinds.join(', ')}</VisibleText>
      )
    },
  },
  {
    id: 'status',
    header: 'Status',
    priority: 3,
    width: '7rem',
    cell: ({ status }) => <DefinitionState status={status} />,
  },
  metadataColumn(query, paths.scenarios),
  idColumn,
]
