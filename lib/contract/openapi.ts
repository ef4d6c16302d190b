import * as z from 'zod/mini'
import { ErrorBody } from './common.ts'
import type { Endpoint } from './endpoint.ts'
import { endpoints } from './index.ts'
import { shapeOf } from './query-string.ts'

type Json = Record<string, unknown>

export const openApiDocument = () => {
  const paths: Record<string, Json> = {}
  for (const endpoint of endpoints) {
    for (const [i, address] of [endpoint.path, ...(endpoint.aliases ?? [])].entries()) {
      const path = address.replace(/:([a-z_]+)/g, '{$1}')
      const described = { ...operation(endpoint), ...(i > 0 ? { operationId: `${endpoint.id}.alias${i}` } : {}) }
      paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: described }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Devbox, axon and benchmark service',
      version: '0.1',
      description:
        'Times are integers in milliseconds since the Unix epoch. Operations with x-devdeck-local exist only in the local service.',
      license: { name: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:4500', description: 'The local service' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: toSchema(ErrorBody) },
    },
  }
}

const operation = (endpoint: Endpoint): Json => {
  const [tag = '', name = ''] = endpoint.id.split('.')
  return {
    operationId: endpoint.id,
    tags: [tag],
    summary: `${wordsOf(name)}${tag === 'hostedOnly' ? ' (hosted service only)' : ''}`,
    ...(endpoint.stability === 'deprecated' && { deprecated: true }),
    'x-stability': endpoint.stability,
    ...(endpoint.scope === 'local' && { 'x-devdeck-local': true }),
    ...(endpoint.isPublic && { security: [] }),
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint)],
    ...(endpoint.bodyFormat === 'binary' && {
      requestBody: {
        required: true,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
    }),
    ...(endpoint.body && {
      requestBody: {
        required: !isOptional(endpoint.body, {}),
        content: requestContent(endpoint, toSchema(endpoint.body, 'input')),
      },
    }),
    responses: {
      ...success(endpoint),
      default: {
        description: 'Error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

const wordsOf = (name: string) =>
  name
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace('std in', 'stdin')
    .replace(/^.|\b(api|mcp|pty|ssh)\b/g, (match) => match.toUpperCase())

const requestContent = ({ bodyFormat }: Endpoint, schema: Json): Json => {
  if (bodyFormat !== 'multipart') return { 'application/json': { schema } }
  const properties = { ...(schema.properties as Json), file: { type: 'string', format: 'binary' } }
  const required = [...((schema.required as string[] | undefined) ?? []), 'file']
  return { 'multipart/form-data': { schema: { ...schema, properties, required } } }
}

const success = ({ response }: Endpoint): Json => {
  const ok = (type: string, schema: Json, description = 'OK') => ({
    200: { description, content: { [type]: { schema } } },
  })
  switch (response.kind) {
    case 'json':
      return ok('application/json', toSchema(response.schema))
    case 'events':
      return ok(
        'text/event-stream',
        toSchema(response.schema),
        'Server-sent events, each with one JSON document of this schema in `data`',
      )
    case 'bytes':
      return ok(response.contentType, { type: 'string', format: 'binary' })
    case 'websocket':
      return { 101: { description: 'Switches to a WebSocket' } }
  }
}

const pathParameters = ({ params }: Endpoint): Json[] =>
  Object.entries(params ? shapeOf(params) : {}).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: toSchema(schema),
  }))

const queryParameters = ({ query }: Endpoint): Json[] =>
  Object.entries(query ? shapeOf(query) : {}).flatMap(([name, schema]) =>
    name === 'metadata'
      ? metadataParameters
      : [{ name, in: 'query', required: !isOptional(schema, undefined), schema: toSchema(schema) }],
  )

const metadataParameters: Json[] = [
  ['metadata[key]', 'Exact value of the metadata key in brackets. Conditions on different keys must all match.'],
  [
    'metadata[key][in]',
    'Any of several comma-separated values. Escape a comma or backslash in a value with a backslash.',
  ],
].map(([name, description]) => ({ name, in: 'query', required: false, description, schema: { type: 'string' } }))

const isOptional = (schema: z.ZodMiniType, missing: unknown) => schema.safeParse(missing).success

const toSchema = (schema: z.ZodMiniType, io: 'input' | 'output' = 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  return rest
}
