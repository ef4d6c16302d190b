import { benchmarkMetadata } from '#lib/contract/benchmark-metadata.ts'
import { browserApi } from '../api/browser-api.ts'
import { metadataWords } from './list/pages.ts'

const pageApi = browserApi({ benchmarks: benchmarkMetadata })
type Api = typeof pageApi

export const benchmarkQueries = {
  metadataKeys: (api: Api = pageApi) =>
    metadataWords(['benchmarks', 'metadata-keys'], (signal) => api.benchmarks.metadataKeys({ signal })),

  /** The values benchmarks have under a key: what runs of them are most likely found by. */
  metadataValues: (key: string, api: Api = pageApi) =>
    metadataWords(['benchmarks', 'metadata-values', key], (signal) =>
      api.benchmarks.metadataValues({ params: { key }, signal }),
    ),
}
