import { benchmarks } from '#lib/contract/benchmarks.ts'
import { browserApi } from '../api/browser-api.ts'
import { metadataWords } from './list/pages.ts'

const pageApi = browserApi({ benchmarks })

export const benchmarkQueries = {
  metadataKeys: () =>
    metadataWords(['benchmarks', 'metadata-keys'], (signal) => pageApi.benchmarks.metadataKeys({ signal })),

  metadataValues: (key: string) =>
    metadataWords(['benchmarks', 'metadata-values', key], (signal) =>
      pageApi.benchmarks.metadataValues({ params: { key }, signal }),
    ),
}
