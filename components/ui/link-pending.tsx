'use client'
import { LoaderCircle } from 'lucide-react'
import { useLinkStatus } from 'next/link'

/** Inside a link: shows that its page is loading, after a short delay. */
export const LinkPending = () => {
  const { pending } = useLinkStatus()
  return (
    <span role="status" className="inline-flex empty:hidden">
      {pending && (
        <span className="animate-appear-late">
          <LoaderCircle aria-hidden className="size-3.5 motion-safe:animate-spin" />
          <span className="sr-only">Loading</span>
        </span>
      )}
    </span>
  )
}
