'use client'
import { useEffect, useState } from 'react'
import type { ColumnChoice, ListColumns } from '#lib/browser/address/list-columns.ts'

/** As the server read them, so that a page whose columns nobody chose needs no code to read them. */
export interface DrawnColumns {
  /** As an address writes them; empty for the usual ones. */
  text: string
  /** Null for the usual ones. */
  choices: readonly ColumnChoice[] | null
  /** They are those this browser chose last, and not of the address. */
  isRemembered: boolean
}

interface ColumnsPage {
  view: { columns?: string | undefined }
  change: (part: { columns: string | undefined }, how: 'replace') => void
}

/** The columns of the address; without any those this browser chose last, which then stand in the address. */
export const useColumns = (list: ListColumns, { view, change }: ColumnsPage, drawn: DrawnColumns) => {
  const [known, setKnown] = useState(drawn)
  const text = view.columns ?? ''
  const { isRemembered } = known
  useEffect(() => {
    if (!isRemembered) return
    // Once: who takes the columns back later means it.
    setKnown((before) => ({ ...before, isRemembered: false }))
    if (text === '') change({ columns: known.text }, 'replace')
  }, [isRemembered, known.text, text, change])
  useEffect(() => {
    if (isRemembered || text === known.text) return
    let isOld = false
    const read = async () => {
      const { readColumns } = await import('./list-tools.tsx')
      if (!isOld) setKnown({ text, choices: readColumns(text, list), isRemembered: false })
    }
    void read()
    return () => {
      isOld = true
    }
  }, [isRemembered, text, known.text, list])
  const columns = {
    list,
    choices: known.choices,
    /** Shows them at once, and writes them in the address. */
    show: (next: Pick<DrawnColumns, 'text' | 'choices'>) => {
      setKnown({ ...next, isRemembered: false })
      change({ columns: next.text || undefined }, 'replace')
    },
  }
  return {
    ...columns,
    /** For the table. */
    onResize: async (column: string, width: number | undefined) => {
      const { keepColumns, choicesOf } = await import('./list-tools.tsx')
      keepColumns(
        columns,
        choicesOf(columns).map((each) => (each.id === column ? { id: column, ...(width && { width }) } : each)),
      )
    },
  }
}

export type ChosenColumns = ReturnType<typeof useColumns>
