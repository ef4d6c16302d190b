import { cookies } from 'next/headers'
import { type ListColumns, readColumns } from '#lib/console/address/list-columns.ts'
import { preferenceCookies } from '#lib/console/frame/preferences.ts'

/** The columns of a list that this browser chose last, as its address writes them; empty where it chose none. */
export const rememberedColumns = async (list: ListColumns): Promise<string> => {
  const text = (await cookies()).get(preferenceCookies[list.cookie])?.value ?? ''
  return readColumns(text, list) ? text : ''
}
