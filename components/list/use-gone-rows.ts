'use client'
import { useEffect, useRef, useState } from 'react'
import { goneRows, idsOf, type ListedRows } from '#lib/browser/lists/gone-rows.ts'

interface List<Row> extends ListedRows<Row> {
  /** Names what is listed: of another list nothing is gone. */
  address: string
  hasMore: boolean
  /** The rows are still those of the list before. */
  isOther: boolean
}

/** Which rows have gone from a list since it was opened, until that is dismissed or they are back. */
export const useGoneRows = <Row extends { id: string }>({ address, loaded, shown, hasMore, isOther }: List<Row>) => {
  const before = useRef<ListedRows<Row> & { address: string }>(undefined)
  const expected = useRef(new Set<string>())
  const [gone, setGone] = useState<{ address: string; rows: readonly Row[] }>({ address, rows: [] })
  useEffect(() => {
    if (isOther) return
    const last = before.current
    before.current = { address, loaded, shown }
    if (!last || last.address !== address || (last.loaded === loaded && last.shown === shown)) return
    const missing = goneRows(last, { loaded, shown }, hasMore).filter(({ id }) => !expected.current.delete(id))
    const present = idsOf(shown)
    setGone((known) => {
      const rows = known.address === address ? known.rows.filter(({ id }) => !present.has(id)) : []
      return missing.length + rows.length === 0 && known.rows.length === 0
        ? known
        : { address, rows: [...rows, ...missing] }
    })
  }, [address, loaded, shown, hasMore, isOther])
  return {
    gone: gone.address === address ? gone.rows : [],
    forgetGone: () => setGone({ address, rows: [] }),
    /** A row that was deleted on this very page. */
    expectGone: (id: string) => {
      expected.current.add(id)
      setGone(({ rows, ...known }) => ({ ...known, rows: rows.filter((row) => row.id !== id) }))
    },
  }
}
