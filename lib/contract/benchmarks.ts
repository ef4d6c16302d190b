import { ByKey, MetadataValues } from './common.ts'
import { defineEndpoint, json } from './endpoint.ts'

export const benchmarks = {
  metadataValues: defineEndpoint({
    id: 'benchmarks.metadataValues',
    method: 'GET',
    path: '/v1/benchmarks/metadata/keys/:key/values',
    params: ByKey,
    response: json(MetadataValues),
    stability: 'stable',
    summary: 'List the values benchmarks can be filtered by under a metadata key',
  }),
}
