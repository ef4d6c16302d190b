'use client'
import { MissingPage } from '#components/layout/missing-page.tsx'
import { paths } from '#lib/browser/address/paths.ts'

export const axonPage = {
  noun: 'axon',
  all: { href: paths.axons(), label: 'All axons' },
  missing: 'It may belong to another account, or the address may be mistyped. Deleted axons stay readable.',
}

/** In a file of its own: it comes with every page of this kind, beside the page itself. */
export const AxonMissing = () => <MissingPage {...axonPage} />
