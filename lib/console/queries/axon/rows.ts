import type { AxonList } from '#lib/contract/axons.ts'
import { maxPageSize } from '#lib/contract/paging.ts'

/** What the server draws a page with: few enough to come at once, more than a screen holds. */
export const firstRows = 100
/** What is added when the end of a list too long for one call comes near: a page that is read without a stutter. */
export const moreRows = 1000

/** Whether a first page of that many rows is drawn by the server; a longer one would come twice, as markup and as data. */
export const isDrawnByServer = (limit = firstRows): boolean => limit <= moreRows

export interface PageParam {
  after: string | undefined
  rows: number
}

/** A page of the list, and when it was read. */
export type AxonRows = AxonList & { read_at_ms: number }

/** How long the rows of the list stand before they are read again, while the page is looked at. */
export const refreshMs = 10_000

/** Since when all that is loaded is known to be so. */
export const readSince = (pages: readonly AxonRows[]): number => Math.min(...pages.map(({ read_at_ms }) => read_at_ms))

/** Whether the loaded rows can be read again in one call. */
export const isRefreshed = (pages: readonly AxonRows[]): boolean =>
  pages.reduce((sum, { axons }) => sum + axons.length, 0) <= maxPageSize

/** How many axons the service counted for the list, or null when it did not. */
export const countedIn = (pages: readonly AxonRows[]): number | null =>
  pages.find(({ total_count }) => Number.isFinite(total_count))?.total_count ?? null

/** Whether the rows of a list fit in one call, so that having them all costs no more than having the next. */
export const fitsOneCall = (pages: readonly AxonRows[]): boolean => {
  const counted = countedIn(pages)
  return counted !== null && counted <= maxPageSize
}
