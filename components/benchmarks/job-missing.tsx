'use client'
import { MissingPage } from '#components/layout/missing-page.tsx'
import { paths } from '#lib/browser/address/paths.ts'

export const jobPage = { noun: 'benchmark job', all: { href: paths.benchmarkJobs(), label: 'All jobs' } }

/** In a file of its own: it comes with every page of this kind, beside the page itself. */
export const JobMissing = () => <MissingPage {...jobPage} />
