import type { AxonList } from '#lib/contract/axons.ts'
import { maxPageSize } from '#lib/contract/common.ts'

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

/** How many axons the service counted for the list, or null when it did not. */
export const countedIn = (pages: readonly AxonList[]): number | null =>
  pages.find(({ total_count }) => Number.isFinite(total_count))?.total_count ?? null

/** Whether the rows of a list fit in one call, so that having them all costs no more than having the next. */
export const fitsOneCall = (pages: readonly AxonList[]): boolean => {
  const counted = countedIn(pages)
  return counted !== null && counted <= maxPageSize
}
