import { cookies } from 'next/headers'
import type { ColumnsCookie } from '#components/list/use-columns.ts'
import { preferenceCookies } from '#lib/browser/frame/preferences.ts'

/** The columns that this browser chose last for a list. */
export const savedColumns = async (cookie: ColumnsCookie): Promise<string> =>
  (await cookies()).get(preferenceCookies[cookie])?.value ?? ''
