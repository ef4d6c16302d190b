import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { endpoints } from './index.ts'
import { openApiDocument } from './openapi.ts'

interface Operation {
  operationId: string
  parameters: { name: string; schema: Record<string, unknown> }[]
  security?: unknown[]
  requestBody?: unknown
}
const operations = Object.values(openApiDocument().paths).flatMap((path) =>
  Object.values(path),
) as unknown as Operation[]
const find = (id: string) => operations.find(({ operationId }) => operationId === id) as Operation

describe('the OpenAPI document', () => {
  it('is the one in public/openapi.json; run `npm run openapi` when it is not', () => {
    const published = readFileSync(join(import.meta.dirname, '../../public/openapi.json'), 'utf8')
    expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(openApiDocument())))
  })

  it('has each operation of the contract once, and once more under each other address', () => {
    const ids = endpoints.flatMap(({ id, aliases = [] }) => [id, ...aliases.map((_, i) => `${id}.alias${i + 1}`)])
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(ids.sort())
  })

  it('carries the limits of the specification', () => {
    const limit = find('axons.list').parameters.find(({ name }) => name === 'limit')
    expect(limit?.schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 5000, default: 20 })
  })

  it('describes an upload as a form with its file', () => {
    expect(find('files.upload').requestBody).toMatchObject({
      required: true,
      content: {
        'multipart/form-data': {
          schema: { required: ['path', 'file'], properties: { file: { type: 'string', format: 'binary' } } },
        },
      },
    })
  })

  it('lets only the health check be called without a key', () => {
    expect(operations.filter(({ security }) => security?.length === 0).map(({ operationId }) => operationId)).toEqual([
      'health.check',
    ])
  })
})
