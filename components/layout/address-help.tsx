'use client'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'

/** Comes with every page, what it loads only where there is none. */
export const AddressHelp = loadOnUse(async () => (await import('./found-by-address.tsx')).FoundByAddress)
