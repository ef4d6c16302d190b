import { SearchX } from 'lucide-react'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { paths } from '#lib/console/paths.ts'

export default function DevboxNotFound() {
  return (
    <EmptyState
      icon={SearchX}
      title="There is no such devbox"
      action={<ButtonLink href={paths.devboxes()}>Back to devboxes</ButtonLink>}
    >
      The address may be mistyped, or the devbox may belong to another account.
    </EmptyState>
  )
}
