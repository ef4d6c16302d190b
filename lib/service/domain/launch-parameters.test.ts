import { describe, expect, it } from 'vitest'
import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import { findLaunchProblem, mergeLaunchParameters, networkUnder } from '#lib/service/domain/launch-parameters.ts'

const problem = (parameters: LaunchParameters) => findLaunchProblem(parameters, 'x86_64')
const custom = (custom_cpu_cores: number, custom_gb_memory: number, custom_disk_size?: number): LaunchParameters => ({
  resource_size_request: 'CUSTOM_SIZE',
  custom_cpu_cores,
  custom_gb_memory,
  custom_disk_size,
})

it('returns the resources of a named, default or custom size', () => {
  expect(resourcesOf({ resource_size_request: 'XX_LARGE' })).toEqual({ cpuCores: 8, memoryGb: 32, diskGb: 16 })
  for (const parameters of [{}, { resource_size_request: null }, { resource_size_request: 'SMALL' as const }])
    expect(resourcesOf(parameters)).toEqual({ cpuCores: 1, memoryGb: 2, diskGb: 4 })
  expect(resourcesOf(custom(4, 8, 32))).toEqual({ cpuCores: 4, memoryGb: 8, diskGb: 32 })
})

describe('findLaunchProblem', () => {
  it.each([
    [0.5, 1, 2],
    [0.5, 4, 64],
    [1, 2, undefined],
    [16, 64, 2],
  ])('accepts %d cores with %d GiB of memory and %s of disk', (cpu, memory, disk) => {
    expect(problem(custom(cpu, memory, disk))).toBeUndefined()
  })

  it.each([
    ['custom_cpu_cores', custom(0, 2)],
    ['custom_cpu_cores', custom(3, 6)],
    ['custom_cpu_cores', custom(18, 64)],
    ['custom_cpu_cores', { resource_size_request: 'CUSTOM_SIZE', custom_gb_memory: 2 }],
    ['custom_gb_memory', { resource_size_request: 'CUSTOM_SIZE', custom_cpu_cores: 2 }],
    ['custom_gb_memory', custom(1, 3)],
    ['custom_gb_memory', custom(1, 1)],
    ['custom_gb_memory', custom(1, 10)],
    ['custom_gb_memory', custom(0.5, 6)],
    ['custom_disk_size', custom(2, 4, 66)],
    ['custom_disk_size', { resource_size_request: 'SMALL', custom_disk_size: 8 }],
    ['custom_cpu_cores', { custom_cpu_cores: 2 }],
    ['architecture', { architecture: 'arm64' }],
    ['launch_commands[1]', { launch_commands: ['true', 'a\0b'] }],
    ['lifecycle.lifecycle_hooks.suspend_commands[0]', { lifecycle: { lifecycle_hooks: { suspend_commands: ['\0'] } } }],
    [
      'lifecycle.lifecycle_hooks.suspend_deadline_ms',
      { lifecycle: { lifecycle_hooks: { suspend_deadline_ms: 60_001 } } },
    ],
    ['user_parameters.username', { user_parameters: { uid: 1000, username: 'a b' } }],
    ['user_parameters.uid', { user_parameters: { uid: -1, username: 'user' } }],
    ['user_parameters.uid', { user_parameters: { uid: 2 ** 31, username: 'user' } }],
    ['user_parameters.uid', { user_parameters: { uid: 0, username: 'user' } }],
    ['user_parameters.uid', { user_parameters: { uid: 1000, username: 'root' } }],
  ] satisfies [string, LaunchParameters][])('rejects invalid %s', (field, parameters) => {
    expect(problem(parameters)).toMatchObject({ code: 'invalid_argument', field })
  })

  it.each([
    ['required_services', { required_services: ['postgres'] }],
    ['lifecycle.resume_triggers.axon_event', { lifecycle: { resume_triggers: { axon_event: true } } }],
  ] satisfies [string, LaunchParameters][])('reports %s as not implemented', (field, parameters) => {
    expect(problem(parameters)).toMatchObject({ code: 'not_implemented', field })
  })

  it('accepts default values', () => {
    expect(
      problem({
        architecture: 'x86_64',
        user_parameters: { uid: 1000, username: 'user' },
        required_services: [],
        available_ports: [8080],
        provisioning_tier: 'flex',
        lifecycle: { resume_triggers: { axon_event: false, http: true } },
      }),
    ).toBeUndefined()
  })
})

it('allows a public network, none or a list of hosts, and no other rules', () => {
  const nothing = {
    ...{ allow_all: false, allow_devbox_to_devbox: false, allow_agent_gateway: false, allow_mcp_gateway: false },
    ...{ allow_runloop_mirrors: false, allowed_hostnames: [], allowed_cidrs: [] },
  }
  expect(networkUnder({ ...nothing, allow_all: true, allowed_hostnames: ['x.test'] })).toBe('public')
  expect(networkUnder(nothing)).toBe('none')
  expect(networkUnder({ ...nothing, allowed_hostnames: ['x.test'] })).toEqual({ hostnames: ['x.test'] })
  expect(networkUnder({ ...nothing, allowed_cidrs: [{ cidr: '10.0.0.0/8' }] })).toBeUndefined()
  expect(networkUnder({ ...nothing, allow_agent_gateway: true })).toBeUndefined()
})

it("puts a request's parameters over those of its blueprint, with sizes and ends as a whole", () => {
  const defaults = { ...custom(2, 4, 8), after_idle: { idle_time_seconds: 5, on_idle: 'suspend' as const } }
  expect(mergeLaunchParameters(defaults, { launch_commands: ['a'], after_idle: null })).toEqual({
    ...defaults,
    launch_commands: ['a'],
  })
  expect(mergeLaunchParameters(defaults, { resource_size_request: 'SMALL', keep_alive_time_seconds: 9 })).toEqual({
    resource_size_request: 'SMALL',
    keep_alive_time_seconds: 9,
  })
  expect(mergeLaunchParameters(undefined, null)).toEqual({})
})
