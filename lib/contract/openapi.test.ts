import { describe, expect, it } from 'vitest'
import { endpoints } from './index.ts'
import { openApiDocument } from './openapi.ts'

interface Operation {
  operationId: string
  parameters: { name: string; schema: Record<string, unknown> }[]
  security?: unknown[]
  summary?: string
  requestBody?: unknown
}
const operations = Object.values(openApiDocument().paths).flatMap((path) =>
  Object.values(path),
) as unknown as Operation[]
const find = (id: string) => operations.find(({ operationId }) => operationId === id) as Operation

describe('the OpenAPI document', () => {
  it('lists each operation once, and once per alias', () => {
    const ids = endpoints.flatMap(({ id, aliases = [] }) => [id, ...aliases.map((_, i) => `${id}.alias${i + 1}`)])
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(ids.sort())
  })

  it('has a summary for each operation', () => {
    expect(find('axons.metadataKeys').summary).toBe('Metadata keys')
    expect(find('hostedOnly.createSshKey').summary).toBe('Create SSH key (hosted service only)')
  })

  it('describes an upload as a form with a file', () => {
    expect(find('files.upload').requestBody).toMatchObject({
      required: true,
      content: {
        'multipart/form-data': {
          schema: { required: ['path', 'file'], properties: { file: { type: 'string', format: 'binary' } } },
        },
      },
    })
  })

  it('requires a key for everything but the health check', () => {
    expect(operations.filter(({ security }) => security?.length === 0).map(({ operationId }) => operationId)).toEqual([
      'health.check',
    ])
  })
})
