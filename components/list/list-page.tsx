'use client'
import { Link2Off } from 'lucide-react'
import type { MouseEvent, PointerEvent, ReactNode } from 'react'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { FieldProblem } from '#lib/contract/query-string.ts'
import { ListView, type ListViewProps } from './list-view.tsx'
import { type BulkAction, SelectionBar } from './selection-bar.tsx'

interface ListPageProps<Row> extends Omit<ListViewProps, 'list'> {
  title: string
  /** From `useListQuery`. */
  list: ListViewProps['list'] & {
    clearHref: string
    problems: readonly FieldProblem[]
    followHere: (event: MouseEvent) => void
    pointer: { onPointerEnter?: (event: PointerEvent) => void; onPointerLeave?: () => void }
    selectedRows: readonly Row[]
    clearSelection: () => void
  }
  actions?: ReactNode
  filters?: ReactNode
  bulk?: readonly BulkAction<Row>[]
  bulkTools?: ReactNode
}

export const ListPage = <Row extends { id: string; name?: string | null | undefined }>({
  title,
  list,
  actions,
  filters,
  bulk = [],
  bulkTools,
  children,
  ...view
}: ListPageProps<Row>) => (
  <>
    <div onClickCapture={list.followHere}>
      <PageHeader title={title} actions={actions} />
      {list.problems.length > 0 ? (
        <InvalidAddress problems={list.problems} clearHref={list.clearHref} />
      ) : (
        <>
          {filters}
          <ListView list={list} {...view}>
            <div {...list.pointer}>{children}</div>
          </ListView>
        </>
      )}
    </div>
    {list.selectedRows.length > 0 && (
      <SelectionBar
        noun={list.noun}
        nouns={list.nouns}
        rows={list.selectedRows}
        actions={bulk}
        onClear={list.clearSelection}
      >
        {bulkTools}
      </SelectionBar>
    )}
  </>
)

const InvalidAddress = ({ problems, clearHref }: { problems: readonly FieldProblem[]; clearHref: string }) => (
  <EmptyState
    icon={Link2Off}
    title="This address has invalid filters"
    action={<ButtonLink href={clearHref}>Show the list without filters</ButtonLink>}
  >
    <ul>
      {problems.map(({ field, message }) => (
        <li key={`${field} ${message}`}>
          <VisibleText max={80} mono className="text-text">
            {field}
          </VisibleText>{' '}
          {message}
        </li>
      ))}
    </ul>
  </EmptyState>
)
