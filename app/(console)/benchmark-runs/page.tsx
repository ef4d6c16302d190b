import type { Metadata } from 'next'
import { benchmarkRunQueries } from '#components/benchmarks/run/queries.ts'
import { RunList } from '#components/benchmarks/run-list.tsx'
import { BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import { listPage } from '../read-page.tsx'

export const generateMetadata = (): Metadata => ({ title: 'Benchmark runs' })

export default listPage(RunList, 'runColumns', BenchmarkRunListQuery, benchmarkRunQueries.list)
