'use client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { OldNotice } from '#components/list/old-notice.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { isMissing, isTransient } from '#lib/browser/api/failures.ts'
import { type Detailed, MissingPage } from './missing-page.tsx'
import { useShownName } from './page-name.tsx'

interface Named {
  id: string
  name?: string | null | undefined
}

interface DetailPageProps<Data extends Named> extends Detailed {
  query: UseQueryResult<Data>
  children: (data: Data) => ReactNode
}

/** The four states of a page that shows one thing: pending, failed, missing, shown; what is shown may be old. */
export const DetailPage = <Data extends Named>({ query, children, ...detailed }: DetailPageProps<Data>) => {
  const { noun, all } = detailed
  const error = useShownError(query)
  useShownName(query.data)
  if (query.data !== undefined)
    return (
      <>
        <OldNotice query={query} />
        {children(query.data)}
      </>
    )
  if (isMissing(error)) return <MissingPage {...detailed} />
  if (!error) return <SkeletonRows columns={3} label={`Loading the ${noun}`} />
  return (
    <ErrorState
      title={`The ${noun} could not be loaded`}
      error={error}
      recovers={isTransient(error)}
      query={query}
      action={<ButtonLink href={all.href}>{all.label}</ButtonLink>}
    />
  )
}
