'use client'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'

export default loadOnUse(async () => (await import('#components/layout/page-failure.tsx')).PageFailure)
