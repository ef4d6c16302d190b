import { cookies } from 'next/headers'
import type { DrawnColumns } from '#components/list/use-columns.ts'
import { readColumns } from '#lib/browser/address/columns/column-text.ts'
import type { ListColumns } from '#lib/browser/address/list-columns.ts'
import type { PageSearchParams } from '#lib/browser/address/url-query.ts'
import { preferenceCookies } from '#lib/browser/frame/preferences.ts'

/** The columns that the server draws a list with: those of its address, else those this browser chose last. */
export const drawnColumns = async (list: ListColumns, { columns }: PageSearchParams): Promise<DrawnColumns> => {
  const isNamed = typeof columns === 'string' && columns !== ''
  const text = isNamed ? columns : ((await cookies()).get(preferenceCookies[list.cookie])?.value ?? '')
  const choices = readColumns(text, list)
  return { text: isNamed || choices ? text : '', choices, isRemembered: !isNamed && choices !== null }
}
