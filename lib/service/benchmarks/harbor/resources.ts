import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'
import type { HarborSettings } from '../plan.ts'

interface Needs {
  cpus: number | null
  memoryMb: number | null
  storageMb: number | null
}

export const customSize = ({ cpus, memoryMb, storageMb }: Needs): LaunchParameters => {
  if (cpus === null && memoryMb === null && storageMb === null) return {}
  const memoryGb = memoryMb === null ? 2 : memoryMb / 1024
  const memory = memoryGb <= 1 ? 1 : Math.min(even(memoryGb), limits.memoryGb)
  // Memory is limited to 8 GiB per core.
  const needed = Math.max(cpus ?? 1, memory / 8)
  const cores = needed <= 0.5 ? 0.5 : needed <= 1 ? 1 : Math.min(even(needed), limits.cpus)
  return {
    resource_size_request: 'CUSTOM_SIZE',
    custom_cpu_cores: cores,
    custom_gb_memory: Math.max(2 * cores, memory),
    ...(storageMb !== null && { custom_disk_size: Math.max(2, Math.min(even(storageMb / 1024), limits.storageGb)) }),
  }
}

/** The size of a task's devbox. */
export const sizeOf = (environment: Needs, { environment: override }: HarborSettings): LaunchParameters =>
  customSize({
    cpus: override.overrideCpus ?? environment.cpus,
    memoryMb: override.overrideMemoryMb ?? environment.memoryMb,
    storageMb: override.overrideStorageMb ?? environment.storageMb,
  })

export const tooMuch = ({ cpus, memoryMb, storageMb }: Needs): string[] => {
  const all: [name: string, need: number | null, limit: number][] = [
    ['cpus', cpus, limits.cpus],
    ['memory_mb', memoryMb, limits.memoryGb * 1024],
    ['storage_mb', storageMb, limits.storageGb * 1024],
  ]
  return all.flatMap(([name, need, limit]) =>
    need !== null && need > limit ? [`${name} ${need}: a devbox has at most ${limit}`] : [],
  )
}

const limits = { cpus: 16, memoryGb: 64, storageGb: 64 }

const even = (value: number) => 2 * Math.ceil(value / 2)
