'use client'
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { Link2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { SheetFrame } from '#components/ui/overlay/sheet-frame.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isMissing } from '#lib/browser/api/failures.ts'

interface Named {
  id: string
  name?: string | null | undefined
}

interface RecordSheetProps<Row extends Named> {
  noun: string
  id: string
  /** The list's row; without it, the record is fetched. */
  listed: Row | undefined
  query: UseQueryOptions<Row, Error, Row, QueryKey>
  onClose: () => void
  children: (record: Row) => ReactNode
}

export const RecordSheet = <Row extends Named>({
  noun,
  id,
  listed,
  query: options,
  onClose,
  children,
}: RecordSheetProps<Row>) => {
  const query = useQuery({ ...options, enabled: listed === undefined })
  const record = listed ?? query.data
  const title = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`
  if (record)
    return (
      <SheetFrame
        title={record.name ? <VisibleText max={200}>{record.name}</VisibleText> : title}
        actions={<CopyButton what="link" text={() => location.href} icon={Link2} />}
        onClose={onClose}
      >
        {children(record)}
      </SheetFrame>
    )
  return (
    <SheetFrame title={title} onClose={onClose}>
      <CopyableId value={id} full />
      {query.isPending ? (
        <p className="animate-appear-late text-muted">{`Loading ${noun}`}</p>
      ) : query.error && !isMissing(query.error) ? (
        <InlineError error={query.error} />
      ) : (
        <p>{`${title} not found. It may have been deleted or belong to another account.`}</p>
      )}
    </SheetFrame>
  )
}
