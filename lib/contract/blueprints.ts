import * as z from 'zod/mini'
import {
  ById,
  Empty,
  EpochMs,
  Id,
  Metadata,
  metadataOperations,
  openEnum,
  pageEnvelope,
  pageQuery,
  StringMap,
  sortQuery,
} from './common.ts'
import { defineEndpoints, events, get, json, maxScriptBodyBytes, post } from './endpoint.ts'
import { LaunchParameters } from './launch-parameters.ts'
import { logLevels } from './logs.ts'
import { MetadataFilter } from './query-string.ts'

export const blueprintStatuses = [
  'queued',
  'provisioning',
  'building',
  'awaiting_upload',
  'failed',
  'build_complete',
] as const
export type BlueprintStatus = (typeof blueprintStatuses)[number]

export const blueprintFailureReasons = ['out_of_memory', 'out_of_disk', 'build_failed'] as const

const Service = z.object({
  name: z.string(),
  image: z.string(),
  credentials: z.nullish(z.object({ username: z.string(), password: z.string() })),
  env: z.nullish(StringMap),
  options: z.nullish(z.string()),
  port_mappings: z.nullish(z.array(z.string())),
})

const repositoryPart = z.string().check(z.regex(/^[\w.-]{1,100}$/, 'must be the name of a GitHub repository or owner'))
const CodeMount = z.object({
  repo_name: repositoryPart,
  repo_owner: repositoryPart,
  token: z.nullish(z.string()),
  git_ref: z.nullish(z.string()),
  install_command: z.nullish(z.string()),
})

const parameters = {
  name: z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(256)),
  dockerfile: z.nullish(z.string()),
  system_setup_commands: z.nullish(z.array(z.string())),
  base_blueprint_id: z.nullish(z.string()),
  /** The latest complete build of this name. */
  base_blueprint_name: z.nullish(z.string()),
  build_args: z.nullish(StringMap),
  build_context: z.nullish(z.object({ type: z.literal('object'), object_id: Id })),
  code_mounts: z.nullish(z.array(CodeMount)),
  /** Text by path, relative to /home/user. */
  file_mounts: z.nullish(StringMap),
  /** Defaults for devboxes of the blueprint. */
  launch_parameters: z.nullish(LaunchParameters),
  /** Restricts the build only. */
  network_policy_id: z.nullish(z.string()),
  /** Names of secrets by environment variable, for the build only. */
  secrets: z.nullish(StringMap),
  services: z.nullish(z.array(Service)),
}

export const BlueprintCreate = z.object({ ...parameters, metadata: z.nullish(Metadata) })
export type BlueprintCreate = z.infer<typeof BlueprintCreate>

export const Blueprint = z.object({
  id: z.string(),
  name: z.string(),
  create_time_ms: EpochMs,
  build_finish_time_ms: z.nullish(EpochMs),
  parameters: z.object({ ...parameters, name: z.string(), metadata: z.nullish(StringMap) }),
  state: openEnum(['created', 'deleted']),
  status: openEnum(blueprintStatuses),
  failure_reason: z.nullish(openEnum(blueprintFailureReasons)),
  /** What failed, with the line of the Dockerfile. Missing if not reported. */
  failure_message: z.nullish(z.string()),
  base_blueprint_id: z.nullish(z.string()),
  metadata: z.nullish(StringMap),
  is_public: z.optional(z.boolean()),
  devbox_capabilities: z.nullish(z.array(z.string())),
  containerized_services: z.nullish(z.array(Service)),
})
export type Blueprint = z.infer<typeof Blueprint>

const status = z.enum(blueprintStatuses, `must be one of ${blueprintStatuses.join(', ')}`)

/** `name` is the whole name; `search` is a part of the name or id. Unspecified: filters other than `name` and `status`. */
export const BlueprintListQuery = z.object({
  name: z.optional(z.string()),
  status: z.optional(status),
  search: z.optional(z.string().check(z.maxLength(256))),
  metadata: z.optional(MetadataFilter),
  ...sortQuery(['name', 'status', 'id', 'create_time_ms']),
  ...pageQuery,
})
export type BlueprintListQuery = z.output<typeof BlueprintListQuery>
export const BlueprintList = z.object({ blueprints: z.array(Blueprint), ...pageEnvelope })
export type BlueprintList = z.infer<typeof BlueprintList>

export const BlueprintLogRecord = z.object({
  timestamp_ms: EpochMs,
  level: openEnum(logLevels),
  message: z.string(),
})
export type BlueprintLogRecord = z.infer<typeof BlueprintLogRecord>

export const isBuilding = (status: string): boolean =>
  ['queued', 'provisioning', 'building', 'awaiting_upload'].includes(status)

export const blueprints = defineEndpoints('blueprints', 'stable', {
  list: get('/v1/blueprints', json(BlueprintList), { query: BlueprintListQuery }),
  listPublic: get('/v1/blueprints/list_public', json(BlueprintList), { query: BlueprintListQuery }),
  create: post('/v1/blueprints', json(Blueprint), { body: BlueprintCreate, maxBodyBytes: maxScriptBodyBytes }),
  preview: post('/v1/blueprints/preview', json(z.object({ dockerfile: z.string() })), {
    body: BlueprintCreate,
    maxBodyBytes: maxScriptBodyBytes,
  }),
  ...metadataOperations('/v1/blueprints'),
  get: get('/v1/blueprints/:id', json(Blueprint), { params: ById }),
  logs: get(
    '/v1/blueprints/:id/logs',
    json(z.object({ blueprint_id: z.string(), logs: z.array(BlueprintLogRecord) })),
    { params: ById },
  ),
  /** Not offered by the hosted service. Ends with the build. */
  tailLogs: get('/v1/blueprints/:id/logs/tail', events(BlueprintLogRecord), { params: ById }),
  delete: post('/v1/blueprints/:id/delete', json(Empty), { params: ById }),
})
