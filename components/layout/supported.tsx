'use client'
import type { LucideIcon } from 'lucide-react'
import { CircleOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { useSupport } from '#components/settings/support-queries.ts'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { isUnsupported } from '#lib/browser/api/failures.ts'

interface SupportedProps {
  /** The operation that the page can't do without. */
  endpoint: string
  title: string
  icon?: LucideIcon
  /** The list's own error, which may show first that the service lacks it. */
  error?: Error | null
  children: ReactNode
}

/** The page, or a notice if the service doesn't offer what it shows. */
export const Supported = ({ endpoint, title, icon = CircleOff, error = null, children }: SupportedProps) => {
  const isMissing = useSupport(endpoint) === 'no' || isUnsupported(error)
  if (!isMissing) return children
  return (
    <>
      <PageHeader title={title} />
      <EmptyState icon={icon} title={`This service doesn't offer ${title.charAt(0).toLowerCase() + title.slice(1)}`}>
        Check its version and documentation, or connect the console to another service.
      </EmptyState>
    </>
  )
}
