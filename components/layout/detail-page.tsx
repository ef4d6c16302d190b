'use client'
import type { UseQueryResult } from '@tanstack/react-query'
import { Copy, Link2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { StaleNotice } from '#components/list/stale-notice.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { usePaletteActions } from '#components/ui/page-actions.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { isMissing, isTransient } from '#lib/browser/api/failures.ts'
import { MissingPage, type RecordKind, recordOf } from './missing-page.tsx'
import { useShownName } from './page-name.tsx'
import { useRecentVisit } from './palette/recent.ts'

interface Named {
  id: string
  name?: string | null | undefined
}

interface DetailPageProps<Data extends Named> {
  kind: RecordKind
  query: UseQueryResult<Data>
  /** If not its `name`. */
  nameOf?: (data: Data) => string
  children: (data: Data) => ReactNode
}

export const DetailPage = <Data extends Named>({ kind, query, nameOf, children }: DetailPageProps<Data>) => {
  const { noun, list } = recordOf(kind)
  const error = useShownError(query)
  useShownName(query.data)
  useRecentVisit(noun, query.data && { id: query.data.id, name: nameOf ? nameOf(query.data) : query.data.name })
  usePaletteActions(() => {
    if (query.data === undefined) return []
    const { id } = query.data
    return [
      { label: 'Copy ID', icon: Copy, run: () => void copy('ID', id) },
      { label: 'Copy link', icon: Link2, run: () => void copy('link', location.href) },
    ]
  })
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

const copy = async (what: string, text: string) => {
  if (await writeClipboard(text)) toast.ok(`Copied ${what}`)
  else toast.danger("Couldn't copy: the browser denied access to the clipboard")
}
