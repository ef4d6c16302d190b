import { SearchX } from 'lucide-react'
import type { Metadata } from 'next'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { paths } from '#lib/console/address/paths.ts'

export const metadata: Metadata = { title: 'Not found' }

export default function NotFound() {
  return (
    <main className="mx-auto max-w-2xl pt-[12dvh]">
      <EmptyState
        icon={SearchX}
        title="There is no page at this address"
        titleAs="h1"
        action={<ButtonLink href={paths.overview()}>Go to the overview</ButtonLink>}
      >
        The address may be mistyped, or the page may belong to another version of the console.
      </EmptyState>
    </main>
  )
}
