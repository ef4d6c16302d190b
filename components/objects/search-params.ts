import * as z from 'zod/mini'
import { ObjectListQuery } from '#lib/contract/objects.ts'

export const ObjectSearchParams = z.extend(ObjectListQuery, {
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type ObjectSearchParams = z.output<typeof ObjectSearchParams>

export const objectQueryOf = ({ columns: _, sort: __, ...query }: ObjectSearchParams): ObjectListQuery => query
