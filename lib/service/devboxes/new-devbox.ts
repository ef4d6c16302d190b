import { randomBytes } from 'node:crypto'
import type { StringMap } from '#lib/contract/common.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import type { Tunnel, TunnelOptions } from '#lib/contract/tunnels.ts'
import { idlePolicy, keepAliveUntil } from '#lib/service/domain/devboxes.ts'
import { findLaunchProblem } from '#lib/service/domain/launch-parameters.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { type MountSources, planMounts } from './plan-mounts.ts'

export type NewDevboxPlan = ReturnType<typeof planDevbox>

export const planDevbox = (account: string, body: DevboxCreate, sources: MountSources) => {
  rejectUnsupported(body)
  const parameters = body.launch_parameters ?? {}
  checkLaunchParameters(parameters)
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
    ...planMounts(account, body, sources),
  }
}

export const checkLaunchParameters = (parameters: LaunchParameters): void => {
  const machine = process.arch === 'arm64' ? 'arm64' : 'x86_64'
  const problem = findLaunchProblem(parameters, machine)
  if (problem) throw fieldError(problem.code, `launch_parameters.${problem.field}`, problem.problem)
}

const keepAliveSeconds = (parameters: LaunchParameters) => (keepAliveUntil(parameters, 0) ?? 0) / 1000

const sources = ['blueprint_id', 'blueprint_name', 'snapshot_id'] as const
const unsupported = ['code_mounts'] as const
const proxied = ['gateways', 'mcp'] as const

export const requireOneSource = (body: DevboxCreate): void => {
  const [source, another] = sources.filter((field) => body[field])
  if (source && another) throw invalid(another, `can't be combined with ${source}`)
}

const rejectUnsupported = (body: DevboxCreate) => {
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

export const checkedSecrets = (secrets: StringMap): StringMap => {
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
