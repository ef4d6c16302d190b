import { customSizeProblem, type LaunchParameters } from '#lib/contract/launch-parameters.ts'
import type { Egress } from '#lib/contract/network-policies.ts'
import type { User } from '#lib/service/engine/box.ts'

export type Architecture = 'x86_64' | 'arm64'

export interface LaunchProblem {
  code: 'invalid_argument' | 'not_implemented'
  field: string
  problem: string
}

const maxSuspendDeadlineMs = 60_000
const defaultSuspendDeadlineMs = 30_000

export const suspendDeadlineMs = ({ lifecycle }: LaunchParameters): number =>
  lifecycle?.lifecycle_hooks?.suspend_deadline_ms ?? defaultSuspendDeadlineMs

export const findLaunchProblem = (parameters: LaunchParameters, machine: Architecture): LaunchProblem | undefined =>
  sizeProblem(parameters) ?? commandProblem(parameters) ?? machineProblem(parameters, machine)

// Container engines accept no higher one.
const maxUid = 2 ** 31 - 1

const customFields = ['custom_cpu_cores', 'custom_gb_memory', 'custom_disk_size'] as const

const sizeProblem = (parameters: LaunchParameters): LaunchProblem | undefined => {
  if (parameters.resource_size_request !== 'CUSTOM_SIZE') {
    const given = customFields.find((field) => present(parameters[field]))
    return given && invalid(given, 'requires resource_size_request CUSTOM_SIZE')
  }
  const found = customSizeProblem(parameters)
  return found && invalid(found.field, found.problem)
}

const commandProblem = ({ launch_commands, lifecycle }: LaunchParameters): LaunchProblem | undefined => {
  const hooks = lifecycle?.lifecycle_hooks
  const deadlineMs = hooks?.suspend_deadline_ms
  if (present(deadlineMs) && (deadlineMs < 0 || deadlineMs > maxSuspendDeadlineMs))
    return invalid('lifecycle.lifecycle_hooks.suspend_deadline_ms', `must be 0 to ${maxSuspendDeadlineMs}`)
  const commands = {
    launch_commands: launch_commands ?? [],
    'lifecycle.lifecycle_hooks.suspend_commands': hooks?.suspend_commands ?? [],
  }
  for (const [field, all] of Object.entries(commands)) {
    const at = all.findIndex((command) => command.includes('\0'))
    if (at !== -1) return invalid(`${field}[${at}]`, 'must not contain a NUL character')
  }
  return undefined
}

const machineProblem = (parameters: LaunchParameters, machine: Architecture): LaunchProblem | undefined => {
  const { architecture, user_parameters: user, required_services: services, lifecycle } = parameters
  if (architecture && architecture !== machine)
    return invalid('architecture', `cannot be ${architecture}: this service runs on ${machine}`)
  if (user) {
    if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(user.username))
      return invalid('user_parameters.username', 'is not a valid user name')
    if (user.uid < 0 || user.uid > maxUid) return invalid('user_parameters.uid', `must be 0 to ${maxUid}`)
    if ((user.uid === 0) !== (user.username === 'root'))
      return invalid('user_parameters.uid', 'must be 0 for root, and for no other user')
  }
  if (services && services.length > 0) return unsupported('required_services', 'is not supported by this service')
  if (lifecycle?.resume_triggers?.axon_event)
    return unsupported('lifecycle.resume_triggers.axon_event', 'is not supported by this service')
  return undefined
}

export const networkUnder = (egress: Egress): 'public' | 'none' | { hostnames: string[] } | undefined => {
  if (egress.allow_all) return 'public'
  const { allowed_hostnames: hostnames, allowed_cidrs, allow_devbox_to_devbox: _, ...switches } = egress
  if (allowed_cidrs.length > 0 || Object.values(switches).some(Boolean)) return undefined
  return hostnames.length > 0 ? { hostnames } : 'none'
}

/** Undefined for the default, `user` with uid 1000. */
export const userOf = ({ user_parameters: user }: LaunchParameters): User | undefined =>
  !user || (user.uid === 1000 && user.username === 'user') ? undefined : { uid: user.uid, name: user.username }

export const homeOf = (parameters: LaunchParameters): string => {
  const { uid, name } = userOf(parameters) ?? { uid: 1000, name: 'user' }
  return uid === 0 ? '/root' : `/home/${name}`
}

/** Parameters of a request over those of its blueprint. A size, and what ends the devbox, are taken as a whole. */
export const mergeLaunchParameters = (
  defaults: LaunchParameters | null | undefined,
  given: LaunchParameters | null | undefined,
): LaunchParameters => {
  const own = Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => present(value))) as LaunchParameters
  const merged: LaunchParameters = { ...defaults, ...own }
  if (own.resource_size_request) for (const field of customFields) merged[field] = own[field]
  if (own.keep_alive_time_seconds || own.after_idle || own.lifecycle?.after_idle) {
    merged.keep_alive_time_seconds = own.keep_alive_time_seconds
    merged.after_idle = own.after_idle
    if (merged.lifecycle) merged.lifecycle = { ...merged.lifecycle, after_idle: own.lifecycle?.after_idle }
  }
  return merged
}

const present = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined
const invalid = (field: string, problem: string): LaunchProblem => ({ code: 'invalid_argument', field, problem })
const unsupported = (field: string, problem: string): LaunchProblem => ({ code: 'not_implemented', field, problem })
