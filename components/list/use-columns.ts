'use client'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { remember } from '#components/layout/remember.ts'
import {
  type ColumnChoice,
  type ListColumns,
  readColumns,
  usualColumns,
  writeColumns,
} from '#lib/console/address/list-columns.ts'

interface ColumnsPage {
  view: { columns?: string | undefined }
  change: (part: { columns: string | undefined }, how: 'replace') => void
}

/** The columns of the address; without any those this browser chose last, which then stand in the address. */
export const useColumns = (list: ListColumns, { view: { columns }, change }: ColumnsPage, remembered: string) => {
  const [initial, setInitial] = useState(remembered)
  useEffect(() => {
    if (initial === '') return
    // Once: who takes the columns back later means it.
    setInitial('')
    if (columns === undefined && readColumns(initial, list)) change({ columns: initial }, 'replace')
  }, [initial, columns, change, list])
  const text = columns ?? initial
  const choices = useMemo(() => (text ? readColumns(text, list) : null) ?? usualColumns(list), [text, list])
  const setColumns = useCallback(
    (next: readonly ColumnChoice[]) => {
      const written = writeColumns(next, list)
      remember(list.cookie, written ?? '')
      change({ columns: written }, 'replace')
    },
    [change, list],
  )
  return {
    list,
    choices,
    setColumns,
    /** For the table. */
    onResize: (column: string, width: number | undefined) =>
      setColumns(choices.map((choice) => (choice.id === column ? { id: column, ...(width && { width }) } : choice))),
  }
}

export type ChosenColumns = ReturnType<typeof useColumns>
