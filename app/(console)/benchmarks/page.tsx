import type { Metadata } from 'next'
import { BenchmarkListPage } from '#components/benchmarks/scenarios/benchmark-list.tsx'
import { benchmarkDefinitionQueries } from '#lib/browser/queries/benchmark-definitions.ts'
import { BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Benchmarks' })

export default listPage(BenchmarkListPage, undefined, BenchmarkListQuery, benchmarkDefinitionQueries.list)
