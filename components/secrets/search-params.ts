import * as z from 'zod/mini'
import type { Secret } from '#lib/contract/secrets.ts'

export const SecretSearchParams = z.object({
  /** The API has no search, so the page searches the loaded rows. */
  search: z.optional(z.string().check(z.maxLength(256))),
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type SecretSearchParams = z.output<typeof SecretSearchParams>

export const secretMatchesSearch = ({ id, name }: Secret, search: string): boolean =>
  [id, name].some((text) => text.toLowerCase().includes(search.toLowerCase()))
