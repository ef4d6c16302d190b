import * as z from 'zod/mini'
import { sortingOf } from '#lib/browser/lists/service-sort.ts'
import { BlueprintListQuery } from '#lib/contract/blueprints.ts'

export const BlueprintSearchParams = z.extend(BlueprintListQuery, {
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type BlueprintSearchParams = z.output<typeof BlueprintSearchParams>

export const blueprintQueryOf = ({ columns: _, sort, ...query }: BlueprintSearchParams): BlueprintListQuery => ({
  ...query,
  ...sortingOf(sort, sortFields),
})

const sortFields = { name: 'name', status: 'status', id: 'id', created: 'create_time_ms' }
