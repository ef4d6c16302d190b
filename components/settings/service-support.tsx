'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { Badge, type Tone } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { ErrorState, InlineError } from '#components/ui/error-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { Section } from '#components/ui/section.tsx'
import { Select } from '#components/ui/select.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { Support } from '#lib/protocol/support.ts'
import { supportMutations, supportQueries } from './support-queries.ts'

interface Operation {
  id: string
  method: string
  path: string
  /** Beyond the public API. */
  isExtension: boolean
}

const looks: Record<Support, { tone: Tone; label: string }> = {
  yes: { tone: 'ok', label: 'Offered' },
  no: { tone: 'attention', label: 'Missing' },
  unknown: { tone: 'neutral', label: 'Not tried yet' },
}

type Filter = 'all' | Support

const filters: readonly { value: Filter; label: string }[] = [
  { value: 'all', label: 'All operations' },
  { value: 'no', label: 'Missing' },
  { value: 'yes', label: 'Offered' },
  { value: 'unknown', label: 'Not tried yet' },
]

const resourceOf = ({ id }: Pick<Operation, 'id'>) =>
  (id.split('.')[0] ?? '')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase())

export const ServiceSupportPage = ({
  serviceUrl,
  operations,
}: {
  serviceUrl: string
  operations: readonly Operation[]
}) => {
  const query = useQuery(supportQueries.current())
  const check = useMutation(supportMutations.checkAgain())
  const [filter, setFilter] = useState<Filter>('all')
  const { data: support } = query
  const supportOf = ({ id }: Operation): Support => support?.operations[id] ?? 'unknown'
  const shown = operations.filter((each) => filter === 'all' || supportOf(each) === filter)
  const lists = Object.entries(support?.parameters ?? {}).filter(([id]) => support?.operations[id] !== 'no')
  return (
    <>
      <PageHeader
        title="What this service offers"
        description="Pages hide or disable operations that the service doesn't offer."
      />
      {query.error && !support && (
        <ErrorState title="Couldn't load what the service offers" error={query.error} query={query} />
      )}
      {support && (
        <div className="max-w-5xl space-y-8">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
            <Select
              aria-label="Operations"
              value={filter}
              options={filters}
              onChange={({ target }) => setFilter(target.value as Filter)}
            />
            <p role="status" className="tabular text-muted">
              {formatCount(shown.length)} of {formatCount(operations.length)} operations of{' '}
              <VisibleText max={80}>{serviceUrl}</VisibleText>
              {support.learned_at_ms !== null && (
                <>
                  , checked <RelativeTime ms={support.learned_at_ms} />
                </>
              )}
            </p>
            <span className="ml-auto">
              <Button size="sm" icon={RefreshCw} busy={check.isPending} onClick={() => check.mutate()}>
                Check again
              </Button>
            </span>
          </div>
          {check.error && <InlineError error={check.error} />}
          {shown.length === 0 ? (
            <p className="text-muted">None. Choose another filter to see other operations.</p>
          ) : (
            <OperationTable operations={shown} supportOf={supportOf} />
          )}
          <Section title="Filters and sort orders of lists">
            <Scrolled className="overflow-x-auto">
              <table className="w-full text-left">
                <caption className="sr-only">Query parameters of each list</caption>
                <thead className="border-b border-line text-sm text-muted">
                  <tr>
                    <th scope="col" className="py-1.5 pr-4 font-medium">
                      List
                    </th>
                    <th scope="col" className="py-1.5 font-medium">
                      Query parameters
                    </th>
                  </tr>
                </thead>
                <tbody className="divide-y divide-line">
                  {lists.map(([id, names]) => (
                    <tr key={id}>
                      <th scope="row" className="py-1.5 pr-4 align-top font-mono text-sm font-normal">
                        {id}
                      </th>
                      <td className="py-1.5 font-mono text-sm text-muted">{names.join(', ')}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scrolled>
          </Section>
        </div>
      )}
    </>
  )
}

const OperationTable = ({
  operations,
  supportOf,
}: {
  operations: readonly Operation[]
  supportOf: (operation: Operation) => Support
}) => {
  const resources = Map.groupBy(operations, resourceOf)
  return (
    <Scrolled className="overflow-x-auto">
      <table className="w-full text-left">
        <caption className="sr-only">Operations of the service by resource</caption>
        <thead className="border-b border-line text-sm text-muted">
          <tr>
            {['Operation', 'Support', 'Part of', 'Request'].map((name) => (
              <th key={name} scope="col" className="py-1.5 pr-4 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {[...resources].map(([resource, rows]) => (
          <tbody key={resource} className="border-b border-line last:border-0">
            <tr>
              <th scope="rowgroup" colSpan={4} className="pt-4 pb-1 font-medium">
                {resource}
              </th>
            </tr>
            {rows.map((operation) => {
              const { tone, label } = looks[supportOf(operation)]
              return (
                <tr key={operation.id}>
                  <th scope="row" className="py-1 pr-4 font-mono text-sm font-normal">
                    {operation.id}
                  </th>
                  <td className="py-1 pr-4 whitespace-nowrap">
                    <Badge tone={tone}>{label}</Badge>
                  </td>
                  <td className="py-1 pr-4 whitespace-nowrap text-muted">
                    {operation.isExtension ? 'Devdeck extension' : 'Public API'}
                  </td>
                  <td className="py-1 font-mono text-sm break-all text-muted">
                    {operation.method} {operation.path}
                  </td>
                </tr>
              )
            })}
          </tbody>
        ))}
      </table>
    </Scrolled>
  )
}
