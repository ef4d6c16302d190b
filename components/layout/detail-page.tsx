'use client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { StaleNotice } from '#components/list/stale-notice.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { isMissing, isTransient } from '#lib/browser/api/failures.ts'
import { MissingPage, type RecordKind, recordOf } from './missing-page.tsx'
import { useShownName } from './page-name.tsx'

interface Named {
  id: string
  name?: string | null | undefined
}

interface DetailPageProps<Data extends Named> {
  kind: RecordKind
  query: UseQueryResult<Data>
  children: (data: Data) => ReactNode
}

export const DetailPage = <Data extends Named>({ kind, query, children }: DetailPageProps<Data>) => {
  const { noun, list } = recordOf(kind)
  const error = useShownError(query)
  useShownName(query.data)
  if (query.data !== undefined)
    return (
      <>
        <StaleNotice query={query} />
        {children(query.data)}
      </>
    )
  if (isMissing(error)) return <MissingPage kind={kind} />
  if (!error) return <SkeletonRows columns={3} label={`Loading the ${noun}`} />
  return (
    <ErrorState
      title={`The ${noun} could not be loaded`}
      error={error}
      recovers={isTransient(error)}
      query={query}
      action={<ButtonLink href={list.href}>{list.label}</ButtonLink>}
    />
  )
}
