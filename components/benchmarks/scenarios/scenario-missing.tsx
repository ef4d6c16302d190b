'use client'
import { MissingPage } from '#components/layout/missing-page.tsx'
import { paths } from '#lib/browser/address/paths.ts'

export const scenarioPage = { noun: 'scenario', all: { href: paths.scenarios(), label: 'All scenarios' } }

/** In a file of its own: it comes with every page of this kind, beside the page itself. */
export const ScenarioMissing = () => <MissingPage {...scenarioPage} />
