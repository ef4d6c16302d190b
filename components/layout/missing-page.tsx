'use client'
import { SearchX } from 'lucide-react'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { AddressHelp } from './address-help.tsx'

/** What a page shows one of. */
export interface Detailed {
  /** In lower case: `benchmark job`. */
  noun: string
  all: { href: string; label: string }
  /** Why there may be none of an id. */
  missing?: string
}

export const MissingPage = ({
  noun,
  all,
  missing = 'It may belong to another account, or the address may be mistyped.',
}: Detailed) => (
  <>
    <EmptyState
      icon={SearchX}
      title={`There is no ${noun} with this id`}
      titleAs="h1"
      action={<ButtonLink href={all.href}>{all.label}</ButtonLink>}
    >
      {missing}
    </EmptyState>
    <div className="flex justify-center px-4">
      <AddressHelp />
    </div>
  </>
)
