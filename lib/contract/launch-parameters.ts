import * as z from 'zod/mini'

export const resourceSizes = ['X_SMALL', 'SMALL', 'MEDIUM', 'LARGE', 'X_LARGE', 'XX_LARGE', 'CUSTOM_SIZE'] as const
export const defaultKeepAliveSeconds = 3600
export const maxKeepAliveSeconds = 172_800

export const AfterIdle = z.object({
  idle_time_seconds: z.int().check(z.minimum(1)),
  on_idle: z.enum(['shutdown', 'suspend']),
})

export const LaunchParameters = z.object({
  resource_size_request: z.nullish(z.enum(resourceSizes)),
  custom_cpu_cores: z.nullish(z.number()),
  custom_gb_memory: z.nullish(z.int()),
  custom_disk_size: z.nullish(z.int()),
  architecture: z.nullish(z.enum(['x86_64', 'arm64'])),
  keep_alive_time_seconds: z.nullish(z.int().check(z.minimum(1), z.maximum(maxKeepAliveSeconds))),
  after_idle: z.nullish(AfterIdle),
  lifecycle: z.nullish(
    z.object({
      after_idle: z.nullish(AfterIdle),
      lifecycle_hooks: z.nullish(
        z.object({ suspend_commands: z.nullish(z.array(z.string())), suspend_deadline_ms: z.nullish(z.int()) }),
      ),
      resume_triggers: z.nullish(z.object({ axon_event: z.nullish(z.boolean()), http: z.nullish(z.boolean()) })),
    }),
  ),
  /** Run at every start, before the entrypoint. */
  launch_commands: z.nullish(z.array(z.string())),
  available_ports: z.nullish(z.array(z.int())),
  network_policy_id: z.nullish(z.string()),
  provisioning_tier: z.nullish(z.enum(['standard', 'flex'])),
  required_services: z.nullish(z.array(z.string())),
  user_parameters: z.nullish(z.object({ uid: z.int(), username: z.string() })),
})
export type LaunchParameters = z.infer<typeof LaunchParameters>

export interface Resources {
  cpuCores: number
  memoryGb: number
  diskGb: number
}

type Size = Exclude<LaunchParameters['resource_size_request'], 'CUSTOM_SIZE' | null | undefined>

const sizes: Record<Size, Resources> = {
  X_SMALL: { cpuCores: 0.5, memoryGb: 1, diskGb: 4 },
  SMALL: { cpuCores: 1, memoryGb: 2, diskGb: 4 },
  MEDIUM: { cpuCores: 2, memoryGb: 4, diskGb: 8 },
  LARGE: { cpuCores: 2, memoryGb: 8, diskGb: 16 },
  X_LARGE: { cpuCores: 4, memoryGb: 16, diskGb: 16 },
  XX_LARGE: { cpuCores: 8, memoryGb: 32, diskGb: 16 },
}

type CustomField = 'custom_cpu_cores' | 'custom_gb_memory' | 'custom_disk_size'
const isEven = (value: number, max: number) => Number.isInteger(value / 2) && value > 0 && value <= max

/** Why this size isn't possible; forms show it before the service does. */
export const customSizeProblem = (
  size: Partial<Record<CustomField, number | null | undefined>>,
): { field: CustomField; problem: string } | undefined => {
  const { custom_cpu_cores: cpu, custom_gb_memory: memory, custom_disk_size: disk } = size
  const problem = (field: CustomField, text: string) => ({ field, problem: text })
  if (cpu == null) return problem('custom_cpu_cores', 'is required for CUSTOM_SIZE')
  if (memory == null) return problem('custom_gb_memory', 'is required for CUSTOM_SIZE')
  if (cpu !== 0.5 && cpu !== 1 && !isEven(cpu, 16))
    return problem('custom_cpu_cores', 'must be 0.5, 1 or a multiple of 2 up to 16')
  if (memory !== 1 && !isEven(memory, 64)) return problem('custom_gb_memory', 'must be 1 or a multiple of 2 up to 64')
  if (memory < 2 * cpu || memory > 8 * cpu)
    return problem('custom_gb_memory', `must be 2 to 8 times custom_cpu_cores: ${2 * cpu} to ${8 * cpu}`)
  if (disk != null && !isEven(disk, 64)) return problem('custom_disk_size', 'must be a multiple of 2 from 2 to 64')
  return undefined
}

/** Unspecified: default size, and default disk of a custom size. */
export const resourcesOf = (parameters: LaunchParameters): Resources => {
  const { resource_size_request: size, custom_cpu_cores, custom_gb_memory, custom_disk_size } = parameters
  if (size !== 'CUSTOM_SIZE') return sizes[size ?? 'SMALL']
  return {
    cpuCores: custom_cpu_cores ?? sizes.SMALL.cpuCores,
    memoryGb: custom_gb_memory ?? sizes.SMALL.memoryGb,
    diskGb: custom_disk_size ?? sizes.LARGE.diskGb,
  }
}
