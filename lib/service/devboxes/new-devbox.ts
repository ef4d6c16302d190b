import * as z from 'zod/mini'
import type { StringMap } from '#lib/contract/common.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import { idlePolicy, keepAliveUntil } from '#lib/service/domain/devboxes.ts'
import { findLaunchProblem } from '#lib/service/domain/launch-parameters.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { type Mount, mountAt } from './mounts.ts'

/** A create call that is valid by itself; its snapshot, secrets and network policy are still to be looked up. */
export interface NewDevboxPlan {
  launch_parameters: LaunchParameters
  environment_variables: StringMap
  secrets: StringMap
  entrypoint: string | null
  snapshot_id: string | null
  mounts: Mount[]
}

/** Throws 400 for what no devbox can be, 501 for what this service cannot do; each names the field. */
export const planDevbox = (body: DevboxCreate): NewDevboxPlan => {
  refuseUnsupported(body)
  const parameters = body.launch_parameters ?? {}
  const machine = process.arch === 'arm64' ? 'arm64' : 'x86_64'
  const refusal = findLaunchProblem(parameters, machine)
  if (refusal) throw refuse(refusal.code, `launch_parameters.${refusal.field}`, refusal.problem)
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
      ...Object.entries(body.file_mounts ?? {}).map(([path, content]) => mountAt('file_mounts', path, content)),
      ...(body.mounts ?? []).map(fileMount),
    ],
  }
}

const keepAliveSeconds = (parameters: LaunchParameters) => (keepAliveUntil(parameters, 0) ?? 0) / 1000

const sources = ['blueprint_id', 'blueprint_name', 'snapshot_id'] as const
const unsupported = ['blueprint_id', 'blueprint_name', 'code_mounts', 'gateways', 'mcp'] as const

const refuseUnsupported = (body: DevboxCreate) => {
  const [source, another] = sources.filter((field) => body[field])
  if (source && another) throw invalid(another, `cannot be given together with ${source}: a devbox has one origin`)
  for (const field of unsupported) {
    const value = body[field]
    if (!value || (typeof value === 'object' && Object.keys(value).length === 0)) continue
    throw refuse('not_implemented', field, 'is not supported: this service cannot create devboxes with it')
  }
}

const knownMounts = ['object_mount', 'agent_mount', 'code_mount', 'broker_mount']
const FileMount = z.object({ type: z.literal('file_mount'), target: z.string(), content: z.string() })

const fileMount = (mount: unknown, i: number): Mount => {
  const field = `mounts[${i}]`
  const type: unknown = (mount as { type?: unknown } | null)?.type
  if (typeof type === 'string' && knownMounts.includes(type))
    throw refuse('not_implemented', `${field}.type`, `is ${type}: this service mounts files only (file_mount)`)
  if (type !== 'file_mount') throw invalid(`${field}.type`, 'is no kind of mount')
  const { data } = FileMount.safeParse(mount)
  if (!data) throw invalid(field, 'must have target and content, both texts')
  return mountAt(field, data.target, data.content)
}

// One string of a process's environment takes 128 KiB, all of them with its arguments a quarter of the stack: 2 MiB.
const maxVariableBytes = 100_000
const maxEnvironmentBytes = 1_000_000

const checkedEnvironment = (variables: StringMap): StringMap => {
  let total = 0
  for (const [name, value] of Object.entries(variables)) {
    const field = variable('environment_variables', name)
    if (value.includes('\0')) throw invalid(field, 'must not contain a NUL character')
    const bytes = name.length + Buffer.byteLength(value)
    total += bytes
    if (bytes > maxVariableBytes) throw invalid(field, `must not be longer than ${maxVariableBytes} bytes`)
    if (total > maxEnvironmentBytes)
      throw invalid(field, `is beyond the ${maxEnvironmentBytes} bytes all variables may take`)
  }
  return variables
}

const checkedSecrets = (secrets: StringMap): StringMap => {
  for (const [name, secret] of Object.entries(secrets)) {
    const field = variable('secrets', name)
    if (secret === '') throw invalid(field, 'must be the name of a secret')
  }
  return secrets
}

/** The field of one variable; throws 400 when it cannot be one. */
const variable = (map: string, name: string): string => {
  const field = `${map}.${name}`
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name)) throw invalid(field, 'is not a name bash accepts')
  return field
}

const invalid = (field: string, problem: string) => refuse('invalid_argument', field, problem)
const refuse = (code: 'invalid_argument' | 'not_implemented', field: string, problem: string) =>
  new ServiceError(code, `${field} ${problem}`, { field, shouldRetry: false })
