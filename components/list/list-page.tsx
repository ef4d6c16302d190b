'use client'
import { Link2Off } from 'lucide-react'
import type { MouseEvent, PointerEvent, ReactNode } from 'react'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { FieldProblem } from '#lib/contract/query-string.ts'
import { ListView, type ListViewProps } from './list-view.tsx'

interface ListPageProps extends Pick<ListViewProps, 'columns' | 'count' | 'none' | 'tools' | 'children'> {
  title: string
  /** As `useListPage` made it. */
  page: Omit<ListViewProps, 'columns' | 'none' | 'children'> & {
    problems: readonly FieldProblem[]
    followHere: (event: MouseEvent) => void
    pointer: { onPointerEnter?: (event: PointerEvent) => void; onPointerLeave?: () => void }
  }
  actions?: ReactNode
  /** Above the rows. */
  filterBar?: ReactNode
}

/** A page that is a list: its heading, its filters and its rows. */
export const ListPage = ({ title, page, actions, filterBar, children, ...view }: ListPageProps) => {
  const { problems, followHere, pointer, ...list } = page
  return (
    <div onClickCapture={followHere}>
      <PageHeader title={title} actions={actions} />
      {problems.length > 0 ? (
        <AddressProblem problems={problems} clearHref={list.clearHref} />
      ) : (
        <>
          {filterBar}
          <ListView {...list} {...view}>
            <div {...pointer}>{children}</div>
          </ListView>
        </>
      )}
    </div>
  )
}

/** In place of a list whose address holds values its endpoint would refuse. */
const AddressProblem = ({ problems, clearHref }: { problems: readonly FieldProblem[]; clearHref: string }) => (
  <EmptyState
    icon={Link2Off}
    title="This address asks for something the list cannot show"
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
