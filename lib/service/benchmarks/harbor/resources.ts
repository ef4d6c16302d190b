import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'

interface Needs {
  cpus: number | null
  memoryMb: number | null
  storageMb: number | null
}

/** The smallest devbox that has what a task asks for; the usual one when it asks for nothing. */
export const customSize = ({ cpus, memoryMb, storageMb }: Needs): LaunchParameters => {
  if (cpus === null && memoryMb === null && storageMb === null) return {}
  const cores = cpus === null ? 1 : cpus <= 0.5 ? 0.5 : cpus <= 1 ? 1 : Math.min(even(cpus), 16)
  const wanted = memoryMb === null ? 2 : memoryMb / 1024
  const memory = wanted <= 1 ? 1 : even(wanted)
  return {
    resource_size_request: 'CUSTOM_SIZE',
    custom_cpu_cores: cores,
    custom_gb_memory: Math.max(2 * cores, Math.min(memory, 8 * cores)),
    ...(storageMb !== null && { custom_disk_size: Math.max(2, Math.min(even(storageMb / 1024), 64)) }),
  }
}

const even = (value: number) => 2 * Math.ceil(value / 2)
