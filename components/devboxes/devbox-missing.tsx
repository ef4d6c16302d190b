'use client'
import { MissingPage } from '#components/layout/missing-page.tsx'
import { paths } from '#lib/browser/address/paths.ts'

export const devboxPage = {
  noun: 'devbox',
  all: { href: paths.devboxes(), label: 'All devboxes' },
  missing: 'It may belong to another account, or the address may be mistyped. Devboxes that have ended stay readable.',
}

/** In a file of its own: it comes with every page of this kind, beside the page itself. */
export const DevboxMissing = () => <MissingPage {...devboxPage} />
