'use client'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'

/** Comes with pages of one thing, what it loads only where that is missing. */
export const AddressHelp = loadOnUse(async () => (await import('./found-by-address.tsx')).FoundByAddress)
