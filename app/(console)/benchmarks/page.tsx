import type { Metadata } from 'next'
import { BenchmarkListPage } from '#components/benchmarks/scenarios/benchmark-list.tsx'
import { benchmarkQueries } from '#components/benchmarks/scenarios/queries.ts'
import { BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Benchmarks' })

export default listPage(BenchmarkListPage, undefined, BenchmarkListQuery, benchmarkQueries.list)
