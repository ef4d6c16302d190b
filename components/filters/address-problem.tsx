import { Link2Off } from 'lucide-react'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { FieldProblem } from '#lib/contract/query-string.ts'

/** In place of a list whose address holds values its endpoint would refuse. */
export const AddressProblem = ({ problems, clearHref }: { problems: readonly FieldProblem[]; clearHref: string }) => (
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
