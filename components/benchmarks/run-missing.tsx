'use client'
import { MissingPage } from '#components/layout/missing-page.tsx'
import { paths } from '#lib/browser/address/paths.ts'

export const runPage = { noun: 'benchmark run', all: { href: paths.benchmarkRuns(), label: 'All runs' } }

/** In a file of its own: it comes with every page of this kind, beside the page itself. */
export const RunMissing = () => <MissingPage {...runPage} />
