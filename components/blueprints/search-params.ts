import * as z from 'zod/mini'
import { BlueprintListQuery } from '#lib/contract/blueprints.ts'

export const BlueprintSearchParams = z.extend(BlueprintListQuery, { columns: z.optional(z.string()) })
export type BlueprintSearchParams = z.output<typeof BlueprintSearchParams>

export const blueprintQueryOf = ({ columns: _, ...query }: BlueprintSearchParams): BlueprintListQuery => query
