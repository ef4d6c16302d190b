import * as z from 'zod/mini'
import { ById, Empty, EpochMs, pageEnvelope, pageQuery, queryBoolean } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'

/** Must not be mistaken for an option on a command line. */
const Argument = z
  .string()
  .check(z.regex(/^[^\s\0-][^\s\0]{0,2047}$/, 'must not be empty, contain spaces or start with -'))
const agent_setup = z.nullish(z.array(z.string()))
const registry_url = z.nullish(
  z.string().check(z.regex(/^https?:\/\/[^\s\0]+$/, 'must be a URL such as https://registry.example.com')),
)

/** Only the configuration of `type` is used. */
export const AgentSource = z
  .object({
    type: z.enum(['npm', 'pip', 'git', 'object'], 'must be npm, pip, git or object'),
    npm: z.nullish(z.object({ package_name: Argument, npm_version: z.nullish(Argument), registry_url, agent_setup })),
    pip: z.nullish(z.object({ package_name: Argument, pip_version: z.nullish(Argument), registry_url, agent_setup })),
    git: z.nullish(z.object({ repository: Argument, ref: z.nullish(Argument), agent_setup })),
    object: z.nullish(z.object({ object_id: z.string(), agent_setup })),
  })
  .check(z.refine((source) => Boolean(source[source.type]), 'must include the configuration of its type'))
export type AgentSource = z.infer<typeof AgentSource>

export const Agent = z.object({
  id: z.string(),
  name: z.string(),
  create_time_ms: EpochMs,
  is_public: z.boolean(),
  version: z.nullish(z.string()),
  source: z.nullish(AgentSource),
})
export type Agent = z.infer<typeof Agent>

export const AgentCreate = z.object({
  name: z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(256)),
  version: z.nullish(Argument),
  source: z.nullish(AgentSource),
})
export type AgentCreate = z.infer<typeof AgentCreate>

/** Version `latest` selects the newest agent of each name. */
export const AgentListQuery = z.object({
  name: z.optional(z.string()),
  search: z.optional(z.string().check(z.maxLength(256))),
  version: z.optional(z.string()),
  is_public: z.optional(queryBoolean),
  ...pageQuery,
})
export type AgentListQuery = z.output<typeof AgentListQuery>
const AgentList = z.object({ agents: z.array(Agent), ...pageEnvelope })

export const agents = defineEndpoints('agents', 'stable', {
  list: get('/v1/agents', json(AgentList), { query: AgentListQuery }),
  listPublic: get('/v1/agents/list_public', json(AgentList), { query: AgentListQuery }),
  devboxCounts: get(
    '/v1/agents/devbox_counts',
    json(z.object({ counts: z.record(z.string(), z.int()), total_count: z.int() })),
  ),
  create: post('/v1/agents', json(Agent), { body: AgentCreate }),
  get: get('/v1/agents/:id', json(Agent), { params: ById }),
  delete: post('/v1/agents/:id/delete', json(Empty), { params: ById }),
})
