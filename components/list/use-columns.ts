'use client'
import { useEffect, useMemo, useState } from 'react'
import { savePreference } from '#components/layout/save-preference.ts'
import type { preferenceCookies } from '#lib/browser/frame/preferences.ts'
import type { Column } from './column.ts'
import { type ColumnChoice, chosenColumns, defaultChoices, readColumns, writeColumns } from './column-choice.tsx'

export type ColumnsCookie = Extract<keyof typeof preferenceCookies, `${string}Columns`>

interface ColumnsParams {
  params: { columns?: string | undefined }
  change: (part: { columns: string | undefined }, how: 'replace') => void
}

/** The columns named in the address, or else those this browser chose last, which are then added to the address. */
export const useColumns = <Row extends { id: string }>(
  all: readonly Column<Row>[],
  { params, change }: ColumnsParams,
  cookie: ColumnsCookie,
  savedColumns: string,
) => {
  const [saved, setSaved] = useState(savedColumns)
  // Only on arrival: the user may go back to the default columns later.
  useEffect(() => {
    if (saved === '') return
    setSaved('')
    if (!params.columns && readColumns(saved, all)) change({ columns: saved }, 'replace')
  }, [saved, params.columns, all, change])
  const text = params.columns ?? saved
  const choices = useMemo(() => (text && readColumns(text, all)) || defaultChoices(all), [text, all])
  const shown = useMemo(() => chosenColumns(choices, all), [choices, all])
  const set = (next: readonly ColumnChoice[]) => {
    const columns = writeColumns(next, all)
    savePreference(cookie, columns)
    change({ columns: columns || undefined }, 'replace')
  }
  const resize = (id: string, width: number | undefined) =>
    set(
      choices.map((choice) =>
        choice.id === id ? { id, ...(choice.isPinned && { isPinned: true }), ...(width && { width }) } : choice,
      ),
    )
  return { all, choices, shown, set, resize }
}

export interface ChosenColumns<Row extends { id: string }> {
  all: readonly Column<Row>[]
  choices: readonly ColumnChoice[]
  shown: readonly Column<Row>[]
  set: (next: readonly ColumnChoice[]) => void
  /** Without a width, the column gets its own back. */
  resize: (id: string, width: number | undefined) => void
}
