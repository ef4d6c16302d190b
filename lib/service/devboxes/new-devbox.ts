import { randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import type { StringMap } from '#lib/contract/common.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import type { Tunnel, TunnelOptions } from '#lib/contract/tunnels.ts'
import { idlePolicy, keepAliveUntil } from '#lib/service/domain/devboxes.ts'
import { findLaunchProblem } from '#lib/service/domain/launch-parameters.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { Objects } from '#lib/service/objects/objects.ts'
import { type Mount, mountArchive, mountFile } from './mounts.ts'

export type NewDevboxPlan = ReturnType<typeof planDevbox>

/** Records that mounts refer to by ID. */
export interface MountSources {
  objects: Pick<Objects, 'requireComplete' | 'pathOf'>
}

export const planDevbox = (account: string, body: DevboxCreate, sources: MountSources) => {
  rejectUnsupported(body)
  const parameters = body.launch_parameters ?? {}
  const machine = process.arch === 'arm64' ? 'arm64' : 'x86_64'
  const problem = findLaunchProblem(parameters, machine)
  if (problem) throw fieldError(problem.code, `launch_parameters.${problem.field}`, problem.problem)
  if (body.entrypoint?.includes('\0')) throw invalid('entrypoint', 'must not contain a NUL character')
  return {
    launch_parameters: {
      ...parameters,
      ...(idlePolicy(parameters) ? {} : { keep_alive_time_seconds: keepAliveSeconds(parameters) }),
    },
    environment_variables: checkedEnvironment(body.environment_variables ?? {}),
    secrets: checkedSecrets(body.secrets ?? {}),
    entrypoint: body.entrypoint || null,
    snapshot_id: body.snapshot_id || null,
    mounts: [
      ...Object.entries(body.file_mounts ?? {}).map(([path, content]) => mountFile('file_mounts', path, content)),
      ...(body.mounts ?? []).map((mount, i) => mountOf(account, mount, `mounts[${i}]`, sources)),
    ],
  }
}

const keepAliveSeconds = (parameters: LaunchParameters) => (keepAliveUntil(parameters, 0) ?? 0) / 1000

const sources = ['blueprint_id', 'blueprint_name', 'snapshot_id'] as const
const unsupported = ['blueprint_id', 'blueprint_name', 'code_mounts'] as const
const proxied = ['gateways', 'mcp'] as const

const rejectUnsupported = (body: DevboxCreate) => {
  const [source, another] = sources.filter((field) => body[field])
  if (source && another) throw invalid(another, `can't be combined with ${source}`)
  for (const field of unsupported) {
    const value = body[field]
    if (!value || (typeof value === 'object' && Object.keys(value).length === 0)) continue
    throw fieldError('not_implemented', field, 'is not supported by this service')
  }
  for (const field of proxied)
    if (Object.keys(body[field] ?? {}).length > 0)
      throw fieldError(
        'not_implemented',
        field,
        'requires a proxy that this service does not run; pass the credential to the devbox with secrets',
      )
}

const unsupportedMounts = ['agent_mount', 'code_mount', 'broker_mount']
const FileMount = z.object({ target: z.string(), content: z.string() })
const ObjectMount = z.object({ object_id: z.string(), object_path: z.string() })

const mountOf = (account: string, mount: unknown, field: string, sources: MountSources): Mount => {
  const type: unknown = (mount as { type?: unknown } | null)?.type
  if (type === 'file_mount') {
    const { target, content } = parseMount(FileMount, mount, field)
    return mountFile(field, target, content)
  }
  if (type === 'object_mount') {
    const { object_id, object_path } = parseMount(ObjectMount, mount, field)
    return mountObject(account, object_id, object_path, field, sources)
  }
  if (typeof type === 'string' && unsupportedMounts.includes(type))
    throw fieldError('not_implemented', `${field}.type`, `${type} is not supported by this service; use file_mount`)
  throw invalid(`${field}.type`, 'is not a mount type')
}

const parseMount = <S extends z.ZodMiniObject>(schema: S, mount: unknown, field: string): z.output<S> => {
  const { data } = schema.safeParse(mount)
  if (data) return data
  throw invalid(field, `must have ${Object.keys(schema.shape).join(' and ')} strings`)
}

/** Unpacks tar and tgz objects; writes others as they are. */
const mountObject = (account: string, id: string, path: string, field: string, { objects }: MountSources): Mount => {
  const { content_type } = objects.requireComplete(account, id, `${field}.object_id`)
  const file = objects.pathOf(id)
  return content_type === 'tar' || content_type === 'tgz'
    ? mountArchive(field, path, { file, isCompressed: content_type === 'tgz' })
    : mountFile(field, path, { file })
}

// Linux limits one variable to 128 KiB, and all variables plus arguments to 2 MiB.
const maxVariableBytes = 100_000
const maxEnvironmentBytes = 1_000_000

const checkedEnvironment = (variables: StringMap): StringMap => {
  let total = 0
  for (const [name, value] of Object.entries(variables)) {
    const field = variable('environment_variables', name)
    if (value.includes('\0')) throw invalid(field, 'must not contain a NUL character')
    const bytes = name.length + Buffer.byteLength(value)
    total += bytes
    if (bytes > maxVariableBytes) throw invalid(field, `must be at most ${maxVariableBytes} bytes`)
    if (total > maxEnvironmentBytes)
      throw invalid(field, `exceeds the total of ${maxEnvironmentBytes} bytes for all variables`)
  }
  return variables
}

const checkedSecrets = (secrets: StringMap): StringMap => {
  for (const [name, secret] of Object.entries(secrets))
    if (secret === '') throw invalid(variable('secrets', name), 'must be the name of a secret')
    else variable('secrets', name)
  return secrets
}

const variable = (map: string, name: string): string => {
  const field = `${map}.${name}`
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name)) throw invalid(field, 'is not a valid variable name')
  return field
}

const invalid = (field: string, problem: string) => fieldError('invalid_argument', field, problem)
const fieldError = (code: 'invalid_argument' | 'not_implemented', field: string, problem: string) =>
  new ServiceError(code, `${field} ${problem}`, { field, shouldRetry: false })

export const newTunnel = ({ auth_mode, http_keep_alive, wake_on_http }: TunnelOptions, now: number): Tunnel => ({
  tunnel_key: randomBytes(16).toString('hex'),
  auth_mode: auth_mode ?? 'open',
  create_time_ms: now,
  http_keep_alive: http_keep_alive ?? true,
  wake_on_http: wake_on_http ?? false,
  auth_token: auth_mode === 'authenticated' ? randomBytes(32).toString('base64url') : null,
})
